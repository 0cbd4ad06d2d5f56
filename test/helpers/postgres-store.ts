import assert from "node:assert/strict";
import type { Postgres, PostgresOptions, ServerFacts } from "../../src/postgres/connection.ts";
import { failsWith } from "./fails-with.ts";
import { openPostgres } from "./postgres.ts";
import type { Cleanup } from "./temp-dir.ts";
import { isWell, until } from "./until.ts";

export const TIMEOUT_MS = 1000;
// Extra time on a busy machine.
const SLACK_MS = 500;
const HEALS_WITHIN_MS = 2000;

export interface WatchedPostgres {
  postgres: Postgres;
  ups: ServerFacts[];
  downs: string[];
}

/** Connects with a short time limit, and remembers what the watcher is told. */
export function openWatched(context: Cleanup, url: string, options: Partial<PostgresOptions> = {}): WatchedPostgres {
  const ups: ServerFacts[] = [];
  const downs: string[] = [];
  const postgres = openPostgres(
    context,
    url,
    { timeoutMs: TIMEOUT_MS, ...options },
    { onUp: (facts) => void ups.push(facts), onDown: (error) => void downs.push(error.message) },
  );
  return { postgres, ups, downs };
}

/** Opens this many connections of the pool. */
export async function fillPool(postgres: Postgres, connections = 4): Promise<void> {
  await Promise.all(Array.from({ length: connections }, () => postgres.rows("SELECT pg_sleep(0.05)")));
}

/** Asserts that an operation fails as unavailable within the time limit. */
export async function unavailableInTime(operation: () => Promise<unknown>): Promise<void> {
  const startedAt = performance.now();
  await failsWith("store_unavailable", operation());
  const tookMs = performance.now() - startedAt;
  assert.ok(tookMs < TIMEOUT_MS + SLACK_MS, `took ${Math.round(tookMs)} ms`);
}

/** Waits for an operation to succeed again. */
export async function heals(operation: () => Promise<unknown>): Promise<void> {
  await until(() => isWell(operation), HEALS_WITHIN_MS);
}
