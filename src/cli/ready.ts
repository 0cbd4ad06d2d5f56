import { get as getHttp } from "node:http";
import { get as getHttps } from "node:https";
import { setTimeout as delay } from "node:timers/promises";
import { parseDurationMs } from "../config/duration.ts";
import { readEnvironment, readSettings } from "../config/settings.ts";
import { describeError, OperatorError } from "../errors.ts";
import { ADDRESS_NAMES, serverUrl } from "./server-address.ts";

const POLL_INTERVAL_MS = 50;

/** Waits until the server of this folder's settings is ready. Throws {@link OperatorError} when it is not in time. */
export async function runReady({ timeout }: { timeout: string }): Promise<void> {
  const timeoutMs = parseDurationMs(timeout);
  if (timeoutMs === null) throw new OperatorError("--timeout is a duration, e.g. 10s");
  const url = `${serverUrl(readSettings(readEnvironment(process.cwd()), ADDRESS_NAMES))}/readyz`;
  const givesUpAt = performance.now() + timeoutMs;
  for (;;) {
    const found = await ask(url, timeoutMs);
    if (found === "200") return;
    if (performance.now() >= givesUpAt) {
      throw new OperatorError(`${url} is not ready after ${timeout} (${found}): see the server's log`, 1);
    }
    await delay(POLL_INTERVAL_MS);
  }
}

/** The status of the answer, or why there is none. */
function ask(url: string, timeout: number): Promise<string> {
  return new Promise((resolve) => {
    // The certificate is for the name that clients use, which is not this address.
    const request = url.startsWith("https:")
      ? getHttps(url, { timeout, rejectUnauthorized: false })
      : getHttp(url, { timeout });
    request.on("response", (response) => {
      response.resume();
      resolve(String(response.statusCode));
    });
    request.on("timeout", () => request.destroy(new Error("no answer")));
    request.on("error", (error) => resolve(describeError(error)));
  });
}
