import { setTimeout as delay } from "node:timers/promises";
import { readEnvironment } from "../config/env-file.ts";
import { MAX_DURATION } from "../config/fields.ts";
import { readSettings } from "../config/settings.ts";
import { describeError, type Fault, OperatorError } from "../errors.ts";
import { durationOption } from "./option-values.ts";
import { probeServer } from "./running-server.ts";

const POLL_INTERVAL_MS = 50;

const SEE_LOG = "see the server's log";

/** Waits until the server on this DATA_DIR is ready. Throws {@link OperatorError} after the timeout. */
export async function runReady({ timeout }: { timeout: string }): Promise<void> {
  const bounds = { leastMs: 0, mostMs: MAX_DURATION.ms, text: `${MAX_DURATION.text}, e.g. 10s` };
  const timeoutMs = durationOption("--timeout", timeout, bounds);
  const { DATA_DIR: dataDir } = readSettings(readEnvironment(), ["DATA_DIR"]);
  const givesUpAt = performance.now() + timeoutMs;
  let last: Fault | undefined;
  for (;;) {
    const fault = await faultOf(dataDir, Math.max(1, Math.ceil(givesUpAt - performance.now())));
    if (fault === null) return;
    const isOver = performance.now() >= givesUpAt;
    // The deadline cuts the last try short, so its error is less useful than the one before.
    if (!isOver || last === undefined) last = fault;
    if (isOver) {
      throw new OperatorError({ found: `Not ready after ${timeout}: ${last.found}`, remedy: last.remedy }, 1);
    }
    await delay(POLL_INTERVAL_MS);
  }
}

/** Why the server is not ready; null if it is ready. */
async function faultOf(dataDir: string, timeoutMs: number): Promise<Fault | null> {
  try {
    const { status, url } = await probeServer(dataDir, timeoutMs);
    return status === 200 ? null : { found: `${url}/readyz says ${status}`, remedy: SEE_LOG };
  } catch (error) {
    const fault = error instanceof OperatorError ? error.fault : undefined;
    return fault ?? { found: describeError(error), remedy: SEE_LOG };
  }
}
