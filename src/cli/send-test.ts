import { createHmac, randomUUID } from "node:crypto";
import { readEnvironment } from "../config/env-file.ts";
import { readSettings } from "../config/settings.ts";
import { describeError, OperatorError } from "../errors.ts";
import { isLoopback } from "../http/listen.ts";
import { printable } from "../lib/printable.ts";
import { ask } from "./ask.ts";
import { printData, printJson, say } from "./output.ts";
import { askServer } from "./running-server.ts";

// The server itself gives up on a disk that stalls before this.
const TIMEOUT_MS = 15_000;

interface SendOptions {
  type: string;
  id?: string;
  url?: string;
  json?: boolean;
}

/** Sends a signed event, as a provider would, to the server that runs on this folder's DATA_DIR. */
export async function runSendTest({ type, id, url, json }: SendOptions): Promise<void> {
  const settings = readSettings(readEnvironment(), ["WEBHOOK_SECRET", "WEBHOOK_PATH", "DATA_DIR"]);
  if (settings.WEBHOOK_SECRET === undefined)
    throw new OperatorError("WEBHOOK_SECRET is not set: without it there is no webhook route");
  if (url !== undefined && !/^https?:$/.test(URL.parse(url)?.protocol ?? ""))
    throw new OperatorError("--url is not an http or https URL: e.g. http://127.0.0.1:3000/webhook");
  const target = url ?? (await askServer(settings.DATA_DIR, TIMEOUT_MS)).url + settings.WEBHOOK_PATH;
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
  const { status, text } = await ask({
    url: target,
    isOurs: url === undefined || isLoopback(new URL(url).hostname),
    timeoutMs: TIMEOUT_MS,
    headers: { "X-Signature": `sha256=${signature}` },
    body,
  }).catch((error: unknown) => {
    throw new OperatorError(`${target} does not answer (${describeError(error)}): is the server running?`, 1);
  });
  const isTaken = status >= 200 && status <= 299;
  if (json) printJson({ url: target, status, answer: text });
  else {
    printData(printable(text));
    if (!isTaken) say(`${target} answered ${status}`);
  }
  if (!isTaken) process.exitCode = 1;
}
