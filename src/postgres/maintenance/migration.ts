import { OperatorError } from "../../errors.ts";
import type { Queries } from "../connection.ts";
import { writeMetadata } from "../metadata.ts";

interface Migration {
  /** The fingerprint of the other store. */
  source: string;
  startedAt: number;
  finishedAt: number | null;
}

const KEY = "migration";

/** The migration, locked until the end of a transaction: key. */
const READ = `SELECT value FROM authserve.metadata WHERE key = $1 FOR UPDATE`;

/** The migration into this database; null if there was none. */
export async function readMigration(queries: Queries): Promise<Migration | null> {
  const [row] = await queries.rows<{ value: string }>(READ, [KEY]);
  return row === undefined ? null : (JSON.parse(row.value) as Migration);
}

export async function writeMigration(queries: Queries, migration: Migration): Promise<void> {
  await writeMetadata(queries, KEY, JSON.stringify(migration));
}

/** How to begin again, as a remedy. */
export const EMPTY_IT = "to begin again, run DROP SCHEMA authserve CASCADE in the database";

/** Throws {@link OperatorError} if the database holds a part of another store only. */
export async function refuseUnfinishedMigration(queries: Queries): Promise<void> {
  const migration = await readMigration(queries);
  if (migration === null || migration.finishedAt !== null) return;
  const found = "the database of DATABASE_URL has an unfinished migration";
  throw new OperatorError({ found, remedy: `run authserve migrate again, which goes on with it; ${EMPTY_IT}` });
}
