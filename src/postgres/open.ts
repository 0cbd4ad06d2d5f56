import { AppError, describeError, NoSchemaError, OperatorError } from "../errors.ts";
import type { Log } from "../log.ts";
import { createPayloadCodec, type EncryptionKey } from "../storage/payload-codec.ts";
import { startClock } from "./clock.ts";
import { connectPostgres, type Postgres, type PostgresOptions, type PostgresWatcher, sqlState } from "./connection.ts";
import { noteKey } from "./encryption.ts";
import { readNewest } from "./event-reads.ts";
import { refuseUnfinishedMigration } from "./maintenance/migration.ts";
import { schemaVersion } from "./schema.ts";
import { prepareSchema } from "./schema-update.ts";
import { NO_RIGHT } from "./sql-states.ts";
import { type PostgresStores, storesOn } from "./stores.ts";

/**
 * How stores in PostgreSQL are opened. `server` names a server that runs as one process at a time; commands have none.
 */
export interface OpenOptions {
  connection: PostgresOptions;
  log: Log;
  server?: string;
  /** `ENCRYPTION_KEYS`: the first one encrypts. */
  keys?: readonly EncryptionKey[];
}

/** The stores of a server. */
export interface PostgresServerStores extends PostgresStores {
  /** When the newest event before the start was received. */
  newestEventAt: number | null;
}

/**
 * Opens the stores of a server, and creates or updates the schema. Throws {@link OperatorError} with nothing left open.
 */
export async function openForServer(options: OpenOptions): Promise<PostgresServerStores> {
  let newestEventAt: number | null = null;
  const stores = await open(options, async (postgres) => {
    await prepareSchema(postgres, options.log);
    await noteKey(postgres, createPayloadCodec(options.keys ?? []), Date.now());
    newestEventAt = await readNewest(postgres);
  });
  return { ...stores, newestEventAt };
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
): Promise<PostgresStores> {
  const postgres = connectPostgres(connection, logging(log));
  try {
    await requireVersion(postgres);
    await prepare(postgres);
    await refuseUnfinishedMigration(postgres);
    return storesOn(postgres, await startClock(postgres), server, createPayloadCodec(keys));
  } catch (error) {
    await postgres.close();
    throw error instanceof AppError ? notOpened(error) : error;
  }
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
