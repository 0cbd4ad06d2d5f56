import type { Postgres, PostgresOptions, ServerFacts } from "../../src/postgres/connection.ts";
import { failsWith } from "./fails-with.ts";
import { openPostgres } from "./postgres.ts";
import type { Cleanup } from "./temp-dir.ts";
import { isWell, until } from "./until.ts";

/** A time limit for operations that are to fail. On a machine that stalls others fail, too, and are tried again. */
export const SHORT_MS = 1000;
/** The same for a whole server, whose start must succeed on a machine that is busy. */
export const SHORT_SERVER_MS = 3000;

export interface WatchedPostgres {
  postgres: Postgres;
  ups: ServerFacts[];
  downs: string[];
}

/** Connects, and remembers what the watcher is told. */
export function openWatched(context: Cleanup, url: string, options: Partial<PostgresOptions> = {}): WatchedPostgres {
  const ups: ServerFacts[] = [];
  const downs: string[] = [];
  const postgres = openPostgres(context, url, options, {
    onUp: (facts) => void ups.push(facts),
    onDown: (error) => void downs.push(error.message),
  });
  return { postgres, ups, downs };
}

/** Opens this many connections of the pool. */
export async function fillPool(postgres: Postgres, connections = 4): Promise<void> {
  await Promise.all(Array.from({ length: connections }, () => postgres.rows("SELECT pg_sleep(0.05)")));
}

/** Waits until the connections of a pool are open, and the watcher was told. */
export async function isUp({ postgres, ups, downs }: WatchedPostgres, connections = 4): Promise<void> {
  await until(async () => (await isWell(() => fillPool(postgres, connections))) && ups.length === downs.length + 1);
}

/** Asserts that an operation fails as unavailable. One without a time limit would hang. */
export async function unavailable(operation: () => Promise<unknown>): Promise<void> {
  await failsWith("store_unavailable", operation());
}

/** Waits for an operation to succeed again. */
export async function heals(operation: () => Promise<unknown>): Promise<void> {
  await until(() => isWell(operation));
}
