import { setTimeout as delay } from "node:timers/promises";
import { readEnvironment } from "../config/env-file.ts";
import { MAX_DURATION } from "../config/fields.ts";
import { readSettings } from "../config/settings.ts";
import { parseDurationMs } from "../config/units.ts";
import { describeError, OperatorError } from "../errors.ts";
import { ask } from "./ask.ts";
import { ADDRESS_NAMES, serverUrl } from "./server-address.ts";

const POLL_INTERVAL_MS = 50;

/** Waits until the server of this folder's settings is ready. Throws {@link OperatorError} when it is not in time. */
export async function runReady({ timeout }: { timeout: string }): Promise<void> {
  const timeoutMs = parseDurationMs(timeout);
  if (timeoutMs === null || timeoutMs > MAX_DURATION.ms)
    throw new OperatorError(`--timeout is a duration ${MAX_DURATION.text}, e.g. 10s`);
  const url = `${serverUrl(readSettings(readEnvironment(), ADDRESS_NAMES))}/readyz`;
  const givesUpAt = performance.now() + timeoutMs;
  let found: string | undefined;
  for (;;) {
    const status = await statusOf(url, Math.max(1, Math.ceil(givesUpAt - performance.now())));
    if (status === "200") return;
    const isOver = performance.now() >= givesUpAt;
    // What was cut short by the end says less than what came before.
    if (!isOver || found === undefined) found = status;
    if (isOver) {
      throw new OperatorError(`${url} is not ready after ${timeout} (${found}): see the server's log`, 1);
    }
    await delay(POLL_INTERVAL_MS);
  }
}

/** The status of the answer, or why there is none. */
function statusOf(url: string, timeoutMs: number): Promise<string> {
  return ask({ url, isOurs: true, timeoutMs }).then(({ status }) => String(status), describeError);
}
