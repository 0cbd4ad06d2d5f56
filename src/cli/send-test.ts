import { createHmac, randomUUID } from "node:crypto";
import { readEnvironment } from "../config/env-file.ts";
import { readSettings } from "../config/settings.ts";
import { OperatorError } from "../errors.ts";
import { isLoopback } from "../http/listen.ts";
import { printable } from "../lib/printable.ts";
import { sendRequest } from "./http-client.ts";
import { printData, printJson, say } from "./output.ts";
import { noAnswer, probeServer } from "./running-server.ts";

// Longer than the server's own timeout for a stalled disk.
const TIMEOUT_MS = 15_000;

interface SendOptions {
  type: string;
  id?: string;
  url?: string;
  json?: boolean;
}

/** Sends a signed event, as a provider does, to the server on this DATA_DIR. */
export async function runSendTest({ type, id, url, json }: SendOptions): Promise<void> {
  const settings = readSettings(readEnvironment(), ["WEBHOOK_SECRET", "WEBHOOK_PATH", "DATA_DIR"]);
  if (settings.WEBHOOK_SECRET === undefined)
    throw new OperatorError({ found: "WEBHOOK_SECRET is not set", remedy: "set it: the webhook route needs it" });
  if (url !== undefined && !/^https?:$/.test(URL.parse(url)?.protocol ?? ""))
    throw new OperatorError({
      found: "--url is not an http or https URL",
      remedy: "give one such as http://127.0.0.1:3000/webhook",
    });
  const target = url ?? (await probeServer(settings.DATA_DIR, TIMEOUT_MS)).url + settings.WEBHOOK_PATH;
  const body = JSON.stringify({
    id: id ?? `evt_test_${randomUUID()}`,
    object: "event",
    api_version: "2026-01-01",
    created: Math.floor(Date.now() / 1000),
    data: { object: { id: "pi_test", object: "payment_intent", amount: 1000, currency: "eur", status: "succeeded" } },
    livemode: false,
    type,
  });
  const signature = createHmac("sha256", settings.WEBHOOK_SECRET).update(body).digest("hex");
  const { status, text } = await sendRequest({
    url: target,
    isLocal: url === undefined || isLoopback(new URL(url).hostname),
    timeoutMs: TIMEOUT_MS,
    headers: { "X-Signature": `sha256=${signature}` },
    body,
  }).catch((error: unknown) => {
    throw noAnswer(target, error);
  });
  const isAccepted = status >= 200 && status <= 299;
  if (json) printJson({ url: target, status, answer: text });
  else {
    printData(printable(text));
    if (!isAccepted) say(`${target} answered ${status}`);
  }
  if (!isAccepted) process.exitCode = 1;
}
