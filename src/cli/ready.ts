import { setTimeout as delay } from "node:timers/promises";
import { readEnvironment } from "../config/env-file.ts";
import { MAX_DURATION } from "../config/fields.ts";
import { readSettings } from "../config/settings.ts";
import { parseDurationMs } from "../config/units.ts";
import { describeError, OperatorError } from "../errors.ts";
import { askServer } from "./running-server.ts";

const POLL_INTERVAL_MS = 50;

/** Waits until the server that runs on this folder's DATA_DIR is ready. Throws {@link OperatorError} when it is not in time. */
export async function runReady({ timeout }: { timeout: string }): Promise<void> {
  const timeoutMs = parseDurationMs(timeout);
  if (timeoutMs === null || timeoutMs > MAX_DURATION.ms)
    throw new OperatorError(`--timeout is a duration ${MAX_DURATION.text}, e.g. 10s`);
  const { DATA_DIR: dataDir } = readSettings(readEnvironment(), ["DATA_DIR"]);
  const givesUpAt = performance.now() + timeoutMs;
  let found: string | undefined;
  for (;;) {
    const fault = await faultOf(dataDir, Math.max(1, Math.ceil(givesUpAt - performance.now())));
    if (fault === null) return;
    const isOver = performance.now() >= givesUpAt;
    // What was cut short by the end says less than what came before.
    if (!isOver || found === undefined) found = fault;
    if (isOver) {
      throw new OperatorError(`Not ready after ${timeout}: ${found}`, 1);
    }
    await delay(POLL_INTERVAL_MS);
  }
}

/** Why the server is not ready, with a remedy; null when it is. */
async function faultOf(dataDir: string, timeoutMs: number): Promise<string | null> {
  try {
    const { status, url } = await askServer(dataDir, timeoutMs);
    return status === 200 ? null : `${url}/readyz says ${status}: see the server's log`;
  } catch (error) {
    return describeError(error);
  }
}
