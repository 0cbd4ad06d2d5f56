import { type ClientBase, Pool, type PoolClient, types } from "pg";
import type { DatabaseAddress, PostgresHost } from "./address.ts";
import type { ServerFacts } from "./connection-outages.ts";
import { isUsable, READ_ONLY, sqlState, TOO_MANY_CONNECTIONS } from "./sql-states.ts";

/** How to connect to PostgreSQL. */
export interface PostgresOptions extends Pick<DatabaseAddress, "hosts" | "user" | "password" | "database"> {
  /** Use TLS. Trust the default authorities, or if `ca` is given only these PEM certificates. */
  tls?: { ca?: string | undefined; rejectUnauthorized: boolean } | undefined;
  /** Most connections at once. */
  poolSize: number;
  /** After this time an operation fails with `store_unavailable`. */
  timeoutMs: number;
}

/** Connections to the host that accepts writes. */
interface HostPool {
  /** Runs a step on a connection. Both times are of `performance.now()`. The step must end at the deadline itself. */
  use<T>(step: (client: PoolClient) => Promise<T>, times: { connectBy: number; deadline: number }): Promise<T>;
  /** Whether the server has answered after this time of `performance.now()`. */
  answeredSince(time: number): boolean;
  close(): Promise<void>;
}

// Linux waits two hours by itself. A firewall may forget a connection that is quiet for minutes in a long statement.
const KEEP_ALIVE_MS = 60_000;

const textParsers = { [types.builtins.INT8]: Number, [types.builtins.NUMERIC]: Number };

/** The driver's parsers, but with numbers for `bigint` and `numeric`. All of ours are safe integers. */
const parsers: typeof types = {
  ...types,
  getTypeParser: ((oid: number, format: "text" | "binary") =>
    format === "binary"
      ? types.getTypeParser(oid, "binary")
      : (textParsers[oid] ?? types.getTypeParser(oid, "text"))) as typeof types.getTypeParser,
};

/** Whether a deadline, a time of `performance.now()`, has ended an operation. Timers may fire a little early. */
export function isPast(deadline: number): boolean {
  return performance.now() >= deadline - 10;
}

/**
 * Creates a pool. It connects when it is used. `onAdmitted` is called for each new connection whose server accepts
 * writes.
 */
export function openPool(options: PostgresOptions, onAdmitted: (facts: ServerFacts) => void): HostPool {
  const { hosts } = options;
  // Each host gets its share of the time limit.
  const connectMs = Math.ceil(options.timeoutMs / hosts.length);
  let current = 0;
  let pool = create();
  let others: Promise<unknown> = Promise.resolve();
  let answeredAt = Number.NEGATIVE_INFINITY;

  function create(): Pool {
    const created = new Pool({
      ...(hosts[current] as PostgresHost),
      user: options.user,
      password: options.password,
      database: options.database,
      ssl: options.tls ?? false,
      max: options.poolSize,
      connectionTimeoutMillis: connectMs,
      idleTimeoutMillis: 60_000,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      application_name: "authserve",
      types: parsers,
      allowExitOnIdle: true,
      // A statement does not wait for the answer of the one before it.
      pipeline: true,
      // Not `verify`: a request that gives up meanwhile would keep the connection for ever.
      onConnect: async (client: ClientBase) => onAdmitted(await admit(client, connectMs, options.timeoutMs)),
    } as ConstructorParameters<typeof Pool>[0]);
    // An idle connection has ended. The pool has removed it, and the next operation opens another one.
    created.on("error", () => {});
    return created;
  }

  /** Further connections are new ones to the next host. Those of the pool are closed once they are not in use. */
  function leave(left: Pool): void {
    if (left !== pool || left.ending) return;
    current = (current + 1) % hosts.length;
    pool = create();
    others = Promise.allSettled([others, left.end()]);
  }

  /** Opens a connection, or takes an idle one. A host that refuses is followed by the next one. */
  async function connect(deadline: number): Promise<{ client: PoolClient; from: Pool }> {
    for (let tries = 1; ; tries++) {
      const from = pool;
      const isWaiting = from.totalCount >= options.poolSize && from.idleCount <= from.waitingCount;
      try {
        return { client: await connectBefore(from, deadline), from };
      } catch (error) {
        // Its open connections go on.
        const isFull = sqlState(error) === TOO_MANY_CONNECTIONS && from.totalCount > 0;
        if (hosts.length > 1 && !isWaiting && !isFull) leave(from);
        if (tries >= hosts.length || isPast(deadline)) throw error;
      }
    }
  }

  return {
    async use(step, { connectBy, deadline }) {
      const startedAt = performance.now();
      const { client, from } = await connect(connectBy);
      try {
        const result = await step(client);
        client.release();
        answeredAt = performance.now();
        return result;
      } catch (error) {
        // The other connections to a server that hangs would cost as long.
        const hangs = isPast(deadline) && answeredAt < startedAt;
        if (hangs || sqlState(error) === READ_ONLY) leave(from);
        client.release(isUsable(error) ? undefined : (error as Error));
        throw error;
      }
    },
    answeredSince: (time) => answeredAt >= time,
    async close() {
      await Promise.all([pool.end(), others]);
    },
  };
}

/** The driver's own time limit covers the login only, and not the statements after it. */
function connectBefore(pool: Pool, deadline: number): Promise<PoolClient> {
  return new Promise((resolve, reject) => {
    let isLate = false;
    const giveUp = () => {
      isLate = true;
      reject(new Error("no connection to PostgreSQL was free or opened in time"));
    };
    const timer = setTimeout(giveUp, Math.max(1, deadline - performance.now()));
    const settle = () => clearTimeout(timer);
    pool
      .connect()
      .finally(settle)
      .then((client) => (isLate ? client.release() : resolve(client)), reject);
  });
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

/** Prepares a new connection. Throws if its server does not accept writes. */
async function admit(client: ClientBase, connectMs: number, timeoutMs: number): Promise<ServerFacts> {
  // The failed query reports it. Without a listener the error would end the process.
  client.on("error", () => {});
  const { rows } = await client.query<FactsRow>({ text: FACTS, query_timeout: connectMs } as never);
  const row = rows[0] as FactsRow;
  if (row.readOnly) throw new Error("this server of PostgreSQL is a standby or read-only");
  const isPooled = (client as unknown as { processID: number }).processID !== row.pid;
  // A pooler would give the settings to the connections of others.
  if (!isPooled) await client.query({ text: sessionSettings(timeoutMs), query_timeout: connectMs } as never);
  const isUnsafe = row.commit === "off" || row.commit === "local";
  return {
    version: row.version,
    isPooled,
    // On a connection of its own the settings above correct "off".
    unsafeCommit: isUnsafe && (isPooled || row.commit === "local") ? row.commit : null,
  };
}

/**
 * A connection that this process has lost must not keep its transaction open: one old snapshot slows every claim. Plans
 * that are made for the empty tables of a new database must use indexes, too: they stay in use until the tables have
 * statistics.
 */
function sessionSettings(timeoutMs: number): string {
  return `SET statement_timeout = ${2 * timeoutMs}; SET idle_in_transaction_session_timeout = ${2 * timeoutMs};
SET default_transaction_isolation = 'read committed'; SET enable_seqscan = off; SET jit = off;
SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'`;
}
