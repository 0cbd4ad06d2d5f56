import { repeat } from "../lib/repeat.ts";
import type { Postgres } from "./connection.ts";

/**
 * The database's clock. Servers that share a database agree on it, even if one of their own clocks is wrong or is set.
 */
export interface DatabaseClock {
  /** Unix milliseconds. */
  now(): number;
  stop(): void;
}

/** The expression for the database's present time in whole Unix milliseconds. */
export const NOW_MS = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

const READ = "SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now";

const COMPARE_EVERY_MS = 10_000;
// The answer may be as wrong as half of the time that it took, for example while this process was suspended.
const MAX_ANSWER_MS = 500;
const COMPARE_AGAIN_MS = 500;

/** Creates the clock. Between comparisons it follows the monotonic clock of this machine. */
export async function startClock(postgres: Postgres, monotonic = () => performance.now()): Promise<DatabaseClock> {
  let offset: number | undefined;

  /** Returns whether the answer was quick enough. */
  async function compare(): Promise<boolean> {
    const askedAt = monotonic();
    const [row] = await postgres.rows<{ now: number }>(READ);
    const answeredAt = monotonic();
    const isQuick = answeredAt - askedAt <= MAX_ANSWER_MS;
    if (row && (isQuick || offset === undefined)) offset = row.now - (askedAt + answeredAt) / 2;
    return isQuick;
  }

  const everyMs = (wasQuick = false) => (wasQuick ? COMPARE_EVERY_MS : COMPARE_AGAIN_MS);
  // An outage is noticed by others.
  const comparing = repeat(compare, { firstMs: everyMs(await compare()), everyMs, onError: () => {} });
  return { now: () => Math.round(monotonic() + (offset ?? 0)), stop: () => void comparing.stop() };
}
