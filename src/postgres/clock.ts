import type { Postgres } from "./connection.ts";

/** The database's clock. Servers that share a database agree on it, even if one of their own clocks is wrong or is set. */
export interface DatabaseClock {
  /** Unix milliseconds. */
  now(): number;
  stop(): void;
}

const NOW = `SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now`;

const COMPARE_EVERY_MS = 10_000;

/** Creates the clock. Between comparisons it follows the monotonic clock of this machine. */
export async function startClock(postgres: Postgres, monotonic = () => performance.now()): Promise<DatabaseClock> {
  let offset = 0;

  async function compare(): Promise<void> {
    const askedAt = monotonic();
    const [row] = await postgres.rows<{ now: number }>(NOW);
    if (row) offset = row.now - (askedAt + monotonic()) / 2;
  }

  await compare();
  // An outage is noticed by others.
  const timer = setInterval(() => void compare().catch(() => {}), COMPARE_EVERY_MS);
  timer.unref();
  return { now: () => Math.round(monotonic() + offset), stop: () => clearInterval(timer) };
}
