import { hash } from "node:crypto";
import { type ClientBase, DatabaseError, Pool, type PoolClient, types } from "pg";
import { AppError, OperatorError } from "../errors.ts";
import type { DatabaseAddress, PostgresHost } from "./address.ts";

/** How to connect to PostgreSQL. */
export interface PostgresOptions extends Pick<DatabaseAddress, "hosts" | "user" | "password" | "database"> {
  /** Use TLS. Trust the default authorities, or if `ca` is given only these PEM certificates. */
  tls?: { ca?: string | undefined; rejectUnauthorized: boolean } | undefined;
  /** Most connections at once. */
  poolSize: number;
  /** After this time an operation fails with `store_unavailable`. */
  timeoutMs: number;
}

/** What a connection has found out about its server. */
export interface ServerFacts {
  /** For example "15.18". */
  version: string;
  /** Whether connections go through a pooler such as pgbouncer. */
  isPooled: boolean;
  /** `synchronous_commit`, if it may lose acknowledged events; else null. */
  unsafeCommit: string | null;
}

/** Listens for outages of PostgreSQL. */
export interface PostgresWatcher {
  /** Called when a server accepts writes, at the start and after each outage. */
  onUp(facts: ServerFacts): void;
  /** Called once for each outage. */
  onDown(reason: Error): void;
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

/**
 * A pool of connections to the server that accepts writes. Every operation ends within the time limit, else it throws
 * `store_unavailable`. A commit whose answer is lost may have happened.
 */
export interface Postgres extends Queries {
  /**
   * Runs statements in one transaction, which a thrown error rolls back. It runs again after a deadlock. A statement whose rows
   * are not needed is not awaited: it is sent with the next ones, and its error fails the transaction.
   */
  transaction<T>(statements: (queries: Queries) => Promise<T>): Promise<T>;
  /** Connections in use, and operations that wait for one. */
  readonly busy: { connections: number; waiting: number };
  close(): Promise<void>;
}

const RETRY_AFTER_SECONDS = 2;
const MAX_TRIES = 3;

/** SQLSTATE of a server that does not take writes: it became a standby, or its disk is read-only. */
const READ_ONLY = "25006";
/** SQLSTATE of a named statement that a pooler has prepared on another connection. */
const LOST_STATEMENTS = ["26000", "42P05"];
/** Also SQLSTATE of a serialization failure and of a deadlock. Nothing was changed, and a second try can succeed. */
const RETRIED = ["40001", "40P01", ...LOST_STATEMENTS];

/** The SQLSTATE of an error of the server, or of the cause of `store_unavailable`; undefined for any other error. */
export function sqlState(error: unknown): string | undefined {
  const cause = error instanceof AppError ? error.cause : error;
  return cause instanceof DatabaseError ? cause.code : undefined;
}

const textParsers = { [types.builtins.INT8]: Number, [types.builtins.NUMERIC]: Number };

/** The driver's parsers, but with numbers for `bigint` and `numeric`. All of ours are safe integers. */
const parsers: typeof types = {
  ...types,
  getTypeParser: ((oid: number, format: "text" | "binary") =>
    format === "binary"
      ? types.getTypeParser(oid, "binary")
      : (textParsers[oid] ?? types.getTypeParser(oid, "text"))) as typeof types.getTypeParser,
};

/** Creates a pool. It connects when it is used, and again after each outage. */
export function connectPostgres(options: PostgresOptions, watcher: PostgresWatcher): Postgres {
  const { hosts, timeoutMs } = options;
  let current = 0;
  let isNamed = true;
  let outageReported = false;
  let isUp = false;
  /** Of the newest connection. */
  let facts: ServerFacts | undefined;

  const pool = new Pool({
    user: options.user,
    password: options.password,
    database: options.database,
    ssl: options.tls ?? false,
    max: options.poolSize,
    // Each host gets its share of the time limit.
    connectionTimeoutMillis: Math.ceil(timeoutMs / hosts.length),
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    application_name: "authserve",
    types: parsers,
    allowExitOnIdle: true,
    // A statement does not wait for the answer of the one before it.
    pipeline: true,
    verify: (client: ClientBase, done: (error?: Error) => void) => {
      admit(client).then(() => done(), done);
    },
  } as ConstructorParameters<typeof Pool>[0]);
  // An idle connection has ended. The pool has removed it, and the next operation opens another one.
  pool.on("error", () => {});
  use(0);

  /** Further connections go to this host. */
  function use(index: number): void {
    current = index % hosts.length;
    const { host, port } = hosts[current] as PostgresHost;
    Object.assign((pool as unknown as { options: object }).options, { host, port });
  }

  /** Called after each success: a server that lets connect may still answer nothing. */
  function reportUp(): void {
    if (facts === undefined || (isUp && !outageReported)) return;
    isUp = true;
    outageReported = false;
    watcher.onUp(facts);
  }

  function reportDown(reason: Error): void {
    if (outageReported || pool.ending) return;
    outageReported = true;
    watcher.onDown(reason);
  }

  /** Prepares a new connection. Throws if its server does not accept writes. */
  async function admit(client: ClientBase): Promise<void> {
    // The failed query reports it. Without a listener the error would end the process.
    client.on("error", () => {});
    const { rows } = await client.query<FactsRow>({ text: FACTS, query_timeout: timeoutMs } as never);
    const row = rows[0] as FactsRow;
    if (row.readOnly) throw new Error("this server of PostgreSQL is a standby or read-only");
    const isPooled = (client as unknown as { processID: number }).processID !== row.pid;
    // A pooler would give the settings to the connections of others.
    if (!isPooled) await client.query({ text: sessionSettings(timeoutMs), query_timeout: timeoutMs } as never);
    const isUnsafe = row.commit === "off" || row.commit === "local";
    facts = {
      version: row.version,
      isPooled,
      // On a connection of its own the settings above correct "off".
      unsafeCommit: isUnsafe && (isPooled || row.commit === "local") ? row.commit : null,
    };
  }

  /** Opens a connection, or takes an idle one. A host that refuses is followed by the next one. */
  async function connect(deadline: number): Promise<PoolClient> {
    for (let tries = 1; ; tries++) {
      const tried = current;
      try {
        return await pool.connect();
      } catch (error) {
        if (tried === current) use(current + 1);
        if (tries >= hosts.length || performance.now() > deadline) throw error;
      }
    }
  }

  function query(client: PoolClient, text: string, values: readonly unknown[], deadline: number) {
    const leftMs = Math.max(1, Math.ceil(deadline - performance.now()));
    const name = isNamed ? nameOf(text) : undefined;
    return client.query({
      name,
      text,
      values: values as unknown[],
      query_timeout: leftMs,
    } as never) as unknown as Promise<{
      rows: unknown[];
      rowCount: number | null;
    }>;
  }

  /** Runs a step on a connection. After a failure of the connection, or of its host, the connection is closed. */
  async function withClient<T>(step: (client: PoolClient, deadline: number) => Promise<T>): Promise<T> {
    const deadline = performance.now() + timeoutMs;
    const client = await connect(deadline);
    try {
      const result = await step(client, deadline);
      client.release();
      reportUp();
      return result;
    } catch (error) {
      const state = sqlState(error);
      if (state === READ_ONLY) use(current + 1);
      client.release(isUsable(error) && state !== READ_ONLY ? undefined : (error as Error));
      throw error;
    }
  }

  /** Runs a step, and again after errors that a second try can end. Translates all others. */
  async function ask<T>(step: (client: PoolClient, deadline: number) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await withClient(step);
      } catch (error) {
        if (error instanceof AppError || error instanceof OperatorError) throw error;
        const state = sqlState(error) ?? "";
        if (LOST_STATEMENTS.includes(state)) useNoNames();
        if (RETRIED.includes(state) && tries < MAX_TRIES) continue;
        if (isOutage(error)) reportDown(error as Error);
        throw new AppError("store_unavailable", { retryAfterSeconds: RETRY_AFTER_SECONDS, cause: error });
      }
    }
  }

  function useNoNames(): void {
    if (isNamed) watcher.onUnnamed();
    isNamed = false;
  }

  const queriesOn = (client: PoolClient, deadline: number): Queries => ({
    async rows<Row>(text: string, values: readonly unknown[] = []) {
      return (await query(client, text, values, deadline)).rows as Row[];
    },
    async run(text, values = []) {
      return (await query(client, text, values, deadline)).rowCount ?? 0;
    },
  });

  return {
    rows: <Row>(text: string, values: readonly unknown[] = []) =>
      ask((client, deadline) => queriesOn(client, deadline).rows<Row>(text, values)),
    run: (text, values) => ask((client, deadline) => queriesOn(client, deadline).run(text, values)),
    transaction: (statements) => ask((client, deadline) => runTransaction(queriesOn(client, deadline), statements)),
    get busy() {
      return { connections: pool.totalCount - pool.idleCount, waiting: pool.waitingCount };
    },
    close: () => pool.end(),
  };
}

async function runTransaction<T>(queries: Queries, statements: (queries: Queries) => Promise<T>): Promise<T> {
  const sent: Promise<unknown>[] = [];
  /** Remembers a statement. Its error is thrown at the commit if nobody awaits it before. */
  function keep<Result>(result: Promise<Result>): Promise<Result> {
    result.catch(() => {});
    sent.push(result);
    return result;
  }
  void keep(queries.run("BEGIN ISOLATION LEVEL READ COMMITTED"));
  try {
    const result = await statements({
      rows: (text, values) => keep(queries.rows(text, values)),
      run: (text, values) => keep(queries.run(text, values)),
    });
    // After an error of a statement before it, this one rolls back.
    void keep(queries.run("COMMIT"));
    await Promise.all(sent);
    return result;
  } catch (error) {
    await Promise.allSettled(sent);
    // A connection that has failed is closed instead.
    if (isUsable(error)) await queries.run("ROLLBACK");
    throw error;
  }
}

interface FactsRow {
  readOnly: boolean;
  pid: number;
  version: string;
  commit: string;
}

const FACTS = `
SELECT pg_is_in_recovery() OR current_setting('default_transaction_read_only')::boolean AS "readOnly",
  pg_backend_pid() AS pid, current_setting('server_version') AS version, current_setting('synchronous_commit') AS commit`;

/**
 * A connection that this process has lost must not keep its transaction open: one old snapshot slows every claim. Plans that are
 * made for the empty tables of a new database must use indexes, too: they stay in use until the tables have statistics.
 */
function sessionSettings(timeoutMs: number): string {
  return `SET statement_timeout = ${2 * timeoutMs}; SET idle_in_transaction_session_timeout = ${2 * timeoutMs};
SET default_transaction_isolation = 'read committed'; SET enable_seqscan = off; SET jit = off;
SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'`;
}

/** Whether a connection can be used after this error: the server answered, or a step of ours failed. */
function isUsable(error: unknown): boolean {
  return sqlState(error) !== undefined || error instanceof AppError || error instanceof OperatorError;
}

/** Whether an error says that the server is away, rather than that it refused one statement. */
function isOutage(error: unknown): boolean {
  const state = sqlState(error);
  return state === undefined || /^(?:08|28|3D|53|57P|58|25006)/.test(state);
}

const names = new Map<string, string>();

/** The name of a prepared statement: the same text has the same name on every server. */
function nameOf(text: string): string {
  const known = names.get(text);
  if (known !== undefined) return known;
  const name = `authserve_${hash("sha256", text).slice(0, 20)}`;
  names.set(text, name);
  return name;
}
