import { AppError, describeError, NoSchemaError, OperatorError } from "../errors.ts";
import { retry } from "../lib/retry.ts";
import type { Log } from "../log.ts";
import { faultBeside } from "../nodes/store.ts";
import { keyNote } from "../storage/encryption.ts";
import { createPayloadCodec, type EncryptionKey } from "../storage/payload-codec.ts";
import { startClock } from "./clock.ts";
import { connectPostgres, type Postgres, type PostgresOptions, type PostgresWatcher, sqlState } from "./connection.ts";
import { readNewest } from "./event-reads.ts";
import { refuseUnfinishedMigration } from "./maintenance/migration.ts";
import { createPostgresNodeStore } from "./nodes.ts";
import { runStatement } from "./queries.ts";
import { schemaVersion } from "./schema.ts";
import { prepareSchema } from "./schema-update.ts";
import { isOutage, NO_RIGHT } from "./sql-states.ts";
import { type PostgresStores, storesOn } from "./stores.ts";

/**
 * How stores in PostgreSQL are opened. `server` names a server that runs as one process at a time; commands have none.
 */
interface OpenOptions {
  connection: PostgresOptions;
  log: Log;
  server?: string;
  /** `ENCRYPTION_KEYS`: the first one encrypts. */
  keys?: readonly EncryptionKey[];
}

/** How the stores of a server are opened. */
interface ServerOptions extends OpenOptions {
  version: string;
  /** `DATABASE_WAIT`: how long to wait for a database that is away. */
  waitMs: number;
}

const RETRY_MS = 1000;

/** The stores of a server. */
interface PostgresServerStores extends PostgresStores {
  /** When the newest event before the start was received. */
  newestEventAt: number | null;
}

/**
 * Opens the stores of a server, and creates or updates the schema. Throws {@link OperatorError} with nothing left open.
 */
export async function openForServer(options: ServerOptions): Promise<PostgresServerStores> {
  let newestEventAt: number | null = null;
  const prepare = async (postgres: Postgres) => {
    await refuseStrangers(postgres, options.version);
    await prepareSchema(postgres, options.log);
    const { keyId } = createPayloadCodec(options.keys ?? []);
    if (keyId !== null) await runStatement(postgres, keyNote(keyId, Date.now()));
    newestEventAt = await readNewest(postgres);
  };
  const stores = await open(options, prepare, options.waitMs);
  return { ...stores, newestEventAt };
}

/** A live server of a version further away must not meet the schema of this one. */
async function refuseStrangers(postgres: Postgres, version: string): Promise<void> {
  if ((await schemaVersion(postgres)) === 0) return;
  const nodes = await createPostgresNodeStore(postgres).list();
  const [fault] = nodes.filter(({ isAlive }) => isAlive).flatMap((node) => faultBeside(node, version) ?? []);
  if (fault !== undefined) throw new OperatorError(fault, 1);
}

/**
 * Opens the stores for a command. Throws {@link OperatorError} with nothing left open, also if no server has started
 * yet.
 */
export function openForCommand(options: OpenOptions): Promise<PostgresStores> {
  return open(options, async (postgres) => {
    if ((await schemaVersion(postgres)) === 0) {
      const found = "the database of DATABASE_URL has no schema authserve";
      throw new NoSchemaError({ found, remedy: "start the server once, or name the server's database" });
    }
    await prepareSchema(postgres, options.log);
  });
}

async function open(
  { connection, log, server, keys = [] }: OpenOptions,
  prepare: (postgres: Postgres) => Promise<void>,
  waitMs = 0,
): Promise<PostgresStores> {
  const postgres = connectPostgres(connection, logging(log));
  try {
    await whenThere(() => requireVersion(postgres), waitMs);
    await prepare(postgres);
    await refuseUnfinishedMigration(postgres);
    return storesOn(postgres, await startClock(postgres), server, createPayloadCodec(keys));
  } catch (error) {
    await postgres.close();
    throw error instanceof AppError ? notOpened(error) : error;
  }
}

/** Runs the first statement, again and again while the database is away. The log has said that it is. */
function whenThere(ask: () => Promise<void>, waitMs: number): Promise<void> {
  const endsAt = performance.now() + waitMs;
  return retry(ask, (error) => {
    const isAway = error instanceof AppError && isOutage(error) && !WRONG_NAME.test(sqlState(error) ?? "");
    if (!isAway || performance.now() + RETRY_MS > endsAt) throw error;
    return RETRY_MS;
  });
}

/** The oldest supported version, as PostgreSQL numbers them. */
export const OLDEST_VERSION = 140_000;

async function requireVersion(postgres: Postgres): Promise<void> {
  const [row] = await postgres.rows<{ number: string; version: string }>(
    "SELECT current_setting('server_version_num') AS number, current_setting('server_version') AS version",
  );
  if (row === undefined || Number(row.number) >= OLDEST_VERSION) return;
  throw new OperatorError({ found: `PostgreSQL is ${row.version}`, remedy: "update it to 14 or newer" });
}

/** SQLSTATE of a wrong password or user, and of a database that does not exist. */
const WRONG_NAME = /^(?:28|3D)/;

function notOpened({ cause }: AppError): OperatorError {
  const state = sqlState(cause) ?? "";
  if (state === NO_RIGHT) {
    const found = `the user of DATABASE_URL may not prepare the schema authserve (${describeError(cause)})`;
    const remedy = "run GRANT CREATE ON DATABASE … TO … as its owner; if the schema is there, let the user own it";
    return new OperatorError({ found, remedy });
  }
  const found = `the database of DATABASE_URL cannot be used (${describeError(cause)})`;
  if (WRONG_NAME.test(state)) return new OperatorError({ found, remedy: "correct DATABASE_URL" });
  return new OperatorError({ found, remedy: "start PostgreSQL, or correct DATABASE_URL" }, 1);
}

function logging(log: Log): PostgresWatcher {
  return {
    onUp({ version, isPooled, unsafeCommit }) {
      log.info({ event: "database_ready", version }, `PostgreSQL ${version} accepts writes`);
      if (unsafeCommit === null) return;
      const where = isPooled ? "for its user or database: connections through a pooler cannot" : "";
      log.warn(
        { event: "setting_warning" },
        `PostgreSQL may lose acknowledged events (synchronous_commit is ${unsafeCommit}): set it to on ${where}`.trim(),
      );
    },
    onDown: (error) =>
      log.warn(
        { event: "database_unavailable", error: describeError(error) },
        "PostgreSQL does not answer; trying again",
      ),
    onUnnamed: () =>
      log.warn(
        { event: "setting_warning" },
        "the pooler before PostgreSQL does not keep prepared statements: update pgbouncer to 1.21 or newer, or set its max_prepared_statements",
      ),
  };
}
