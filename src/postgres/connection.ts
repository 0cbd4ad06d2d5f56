import { hash } from "node:crypto";
import type { PoolClient } from "pg";
import { AppError, OperatorError } from "../errors.ts";
import { storable } from "../lib/storable.ts";
import { type OutageWatcher, watchOutages } from "./connection-outages.ts";
import { isPast, openPool, type PostgresOptions } from "./pool.ts";
import { ABORTED, isOutage, isUsable, LOST_STATEMENTS, RETRIED, sqlState } from "./sql-states.ts";

export type { ServerFacts } from "./connection-outages.ts";
export type { PostgresOptions } from "./pool.ts";
export { sqlState } from "./sql-states.ts";

/** Listens for outages of PostgreSQL. */
export interface PostgresWatcher extends OutageWatcher {
  /** Called once when a pooler does not keep named statements. Statements are then planned anew each time. */
  onUnnamed(): void;
}

/** Runs statements, each with its parameters. */
export interface Queries {
  /** Returns the rows of a statement. */
  rows<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Returns the number of rows that a statement has changed. */
  run(text: string, values?: readonly unknown[]): Promise<number>;
}

/** The time limit of what reads or changes a whole table. With many millions of events it takes minutes. */
export const WHOLE_TABLE_MS = 60 * 60_000;

/** How a transaction differs from others. */
export interface TransactionOptions {
  /** Its time limit, instead of that of the pool, which then bounds only the connecting. */
  timeoutMs: number;
}

/**
 * A pool of connections to the server that accepts writes. Every operation ends within the time limit, else it throws
 * `store_unavailable`. A commit whose answer is lost may have happened.
 */
export interface Postgres extends Queries {
  /**
   * Runs statements in one transaction, which a thrown error rolls back. It runs again after a deadlock. A statement
   * whose rows are not needed is not awaited: it is sent with the next ones, and its error fails the transaction.
   */
  transaction<T>(statements: (queries: Queries) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** Like {@link transaction}, but nothing is changed: it is rolled back at the end. */
  rolledBack<T>(statements: (queries: Queries) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

const RETRY_AFTER_SECONDS = 2;
const MAX_TRIES = 3;

/** Creates a pool. It connects when it is used, and again after each outage. */
export function connectPostgres(options: PostgresOptions, watcher: PostgresWatcher): Postgres {
  const { timeoutMs } = options;
  const outages = watchOutages(watcher, timeoutMs);
  const pool = openPool(options, outages.admitted);
  let isNamed = true;
  let isClosed = false;

  async function query(client: PoolClient, text: string, values: readonly unknown[], deadline: number) {
    const leftMs = Math.max(1, Math.ceil(deadline - performance.now()));
    const name = isNamed ? nameOf(text) : undefined;
    const config = { name, text, values: values.map(storableValue), query_timeout: leftMs } as never;
    return (await client.query(config)) as unknown as { rows: unknown[]; rowCount: number | null };
  }

  const queriesOn = (client: PoolClient, deadline: number): Queries => ({
    async rows<Row>(text: string, values: readonly unknown[] = []) {
      return (await query(client, text, values, deadline)).rows as Row[];
    },
    async run(text, values = []) {
      return (await query(client, text, values, deadline)).rowCount ?? 0;
    },
  });

  /** Runs a step, and again after errors that a second try can end. Translates all others. */
  async function ask<T>(step: (queries: Queries) => Promise<T>, limitMs = timeoutMs): Promise<T> {
    const startedAt = performance.now();
    const deadline = startedAt + limitMs;
    for (let tries = 1; ; tries++) {
      const connectBy = Math.min(deadline, performance.now() + timeoutMs);
      try {
        const result = await pool.use((client) => step(queriesOn(client, deadline)), { connectBy, deadline });
        outages.succeeded();
        return result;
      } catch (error) {
        const mayRetry = tries < MAX_TRIES && !isPast(deadline) && RETRIED.includes(sqlState(error) ?? "");
        afterError(error, mayRetry, isPast(deadline) && pool.answeredSince(startedAt));
      }
    }
  }

  /**
   * Throws the error of a step, translated, unless the step may be tried again. A server that answers others is busy,
   * not away.
   */
  function afterError(error: unknown, mayRetry: boolean, isBusy: boolean): void {
    if (error instanceof AppError || error instanceof OperatorError) throw error;
    if (LOST_STATEMENTS.includes(sqlState(error) ?? "")) useNoNames();
    if (mayRetry) return;
    if (isOutage(error) && !isBusy && !isClosed) outages.failed(error as Error);
    throw new AppError("store_unavailable", { retryAfterSeconds: RETRY_AFTER_SECONDS, cause: error });
  }

  function useNoNames(): void {
    if (isNamed) watcher.onUnnamed();
    isNamed = false;
  }

  return {
    rows: <Row>(text: string, values?: readonly unknown[]) => ask((queries) => queries.rows<Row>(text, values)),
    run: (text, values) => ask((queries) => queries.run(text, values)),
    transaction: (statements, options) =>
      ask((queries) => runTransaction(queries, statements, "COMMIT", options), options?.timeoutMs),
    rolledBack: (statements) => ask((queries) => runTransaction(queries, statements, "ROLLBACK")),
    close() {
      isClosed = true;
      return pool.close();
    },
  };
}

/**
 * Gives a transaction another time limit than its session, or its user, has: milliseconds. When its client is gone, a
 * statement ends within seconds, so that the next client need not wait for its locks. Older servers lack a setting.
 */
const SET_LIMITS = `
SELECT set_config(name, CASE name
  WHEN 'statement_timeout' THEN $1 WHEN 'client_connection_check_interval' THEN '5s' ELSE '0' END, true)
FROM pg_settings
WHERE name IN ('statement_timeout', 'transaction_timeout')
  OR (name = 'client_connection_check_interval' AND version() LIKE '%linux%')`;

async function runTransaction<T>(
  queries: Queries,
  statements: (queries: Queries) => Promise<T>,
  end: "COMMIT" | "ROLLBACK",
  limits?: TransactionOptions,
): Promise<T> {
  const sent: Promise<unknown>[] = [];
  /** Remembers a statement. Its error is thrown at the commit if nobody awaits it before. */
  function keep<Result>(result: Promise<Result>): Promise<Result> {
    result.catch(() => {});
    sent.push(result);
    return result;
  }
  void keep(queries.run("BEGIN ISOLATION LEVEL READ COMMITTED"));
  if (limits) void keep(queries.run(SET_LIMITS, [String(limits.timeoutMs)]));
  try {
    const result = await statements({
      rows: (text, values) => keep(queries.rows(text, values)),
      run: (text, values) => keep(queries.run(text, values)),
    });
    // After an error of a statement before it, a commit rolls back.
    void keep(queries.run(end));
    await Promise.all(sent);
    return result;
  } catch (error) {
    const ended = await Promise.allSettled(sent);
    // The statements after a failed one are refused. Their error says nothing.
    const first = ended.find(({ status }) => status === "rejected") as PromiseRejectedResult | undefined;
    const cause = sqlState(error) === ABORTED ? first?.reason : error;
    // A connection that has failed is closed instead.
    if (isUsable(cause)) await queries.run("ROLLBACK");
    throw cause;
  }
}

// Anybody who may ask can write U+0000 into a condition. PostgreSQL would fail the statement, as if it were away.
const storableValue = (value: unknown) => (typeof value === "string" ? storable(value) : value);

const names = new Map<string, string>();

/** The name of a prepared statement: the same text has the same name on every server. */
function nameOf(text: string): string {
  const known = names.get(text);
  if (known !== undefined) return known;
  const name = `authserve_${hash("sha256", text).slice(0, 20)}`;
  names.set(text, name);
  return name;
}
