import { createHash } from "node:crypto";
import { OperatorError } from "../../errors.ts";
import { keyNote } from "../../storage/encryption.ts";
import { type ColumnKind, type CopiedRows, type CopiedTable, keyValues, type Position } from "../../storage/tables.ts";
import type { Postgres, Queries } from "../connection.ts";
import { runStatement } from "../queries.ts";
import { arrayOf } from "../values.ts";
import { EMPTY_IT, readMigration, writeMigration } from "./migration.ts";

/** A store that another one is copied into. */
export interface ImportedStore {
  /** When the copying started, in Unix milliseconds: earlier than this run if it goes on with another one. */
  startedAt: number;
  /** Whether it goes on with an interrupted copy. */
  isResumed: boolean;
  /** The last row of a table that is copied. */
  position(table: CopiedTable): Position;
  /** Adds the rows after a position. After a break either all of them are there or none. */
  add(table: CopiedTable, after: Position, rows: CopiedRows): Promise<void>;
  /** Throws {@link OperatorError} unless the rows after a position are these. No rows: there must be none after it. */
  requireSame(table: CopiedTable, after: Position, rows: CopiedRows): Promise<void>;
  /** Collects the statistics of the tables, without which ranges of them may be read slowly. */
  analyze(tables: readonly CopiedTable[]): Promise<void>;
  /** Lets servers use the store, which has rows that are encrypted with these keys. */
  finish(now: number, keys: readonly string[]): Promise<void>;
}

/**
 * Begins to copy the store with this fingerprint into an empty one, or goes on with it. Throws {@link OperatorError} if
 * the store has anything else.
 */
export async function beginImport(
  postgres: Postgres,
  tables: readonly CopiedTable[],
  source: string,
  now: number,
): Promise<ImportedStore> {
  const { startedAt, isResumed, positions } = await postgres.transaction(async (queries) => {
    const migration = await readMigration(queries);
    if (migration === null) {
      await requireEmpty(queries, tables);
      await writeMigration(queries, { source, startedAt: now, finishedAt: null });
      for (const { name } of tables) await queries.run(ADD_PROGRESS, [progressKey(name), "null"]);
    } else refuseOther(migration, source);
    const rows = await queries.rows<{ key: string; value: string }>(PROGRESS);
    const positions = new Map(rows.map(({ key, value }) => [key, JSON.parse(value) as Position]));
    return { startedAt: migration?.startedAt ?? now, isResumed: migration !== null, positions };
  });

  return {
    startedAt,
    isResumed,
    position: ({ name }) => positions.get(progressKey(name)) ?? null,
    async add(table, after, rows) {
      const progress = [JSON.stringify(rows.last), progressKey(table.name), JSON.stringify(after)];
      const added = await postgres.run(insertOf(table), [...progress, ...encoded(table, rows)]);
      if (added === rows.count) return;
      const found = "another migration into this database is running";
      throw new OperatorError({ found, remedy: "wait for it, and run this again if it fails" }, 1);
    },
    async requireSame(table, after, rows) {
      const { count, last } = rows;
      const values = [...keyValues(table, after), ...(count === 0 ? [] : keyValues(table, last)), count + 1];
      const statement = digestOf(table, after !== null, count > 0);
      const [found] = await postgres.rows<{ count: number; digest: string | null }>(statement, values);
      if (found?.count === count && (count === 0 || found.digest === sha256(encoded(table, rows)))) return;
      throw new OperatorError(differs(table), 1);
    },
    async analyze(all) {
      for (const { name } of all) await postgres.run(`ANALYZE authserve.${name}`);
    },
    finish: (finishedAt, keys) =>
      postgres.transaction(async (queries) => {
        for (const keyId of keys) await runStatement(queries, keyNote(keyId, finishedAt));
        for (const table of ["events", "held"]) await queries.run(setSequence(table));
        await queries.run(REMOVE_PROGRESS);
        await writeMigration(queries, { source, startedAt, finishedAt });
      }),
  };
}

const PROGRESS_PREFIX = "migration:";
const progressKey = (table: string) => PROGRESS_PREFIX + table;

/** Adds the progress of a table that is not copied yet: key, value. */
const ADD_PROGRESS = `INSERT INTO authserve.metadata (key, value) VALUES ($1, $2)`;

const PROGRESS = `SELECT key, value FROM authserve.metadata WHERE starts_with(key, '${PROGRESS_PREFIX}')`;

const REMOVE_PROGRESS = `DELETE FROM authserve.metadata WHERE starts_with(key, '${PROGRESS_PREFIX}')`;

/** Lets the next event have the number after the largest one. */
const setSequence = (table: string) => `
SELECT setval('authserve.${table}_id_seq', greatest(max(id), 1), max(id) IS NOT NULL) FROM authserve.${table}`;

async function requireEmpty(queries: Queries, tables: readonly CopiedTable[]): Promise<void> {
  const filled = tables.map(({ name }) => `SELECT '${name}' AS name WHERE EXISTS (SELECT FROM authserve.${name})`);
  const [first] = await queries.rows<{ name: string }>(filled.join(" UNION ALL "));
  if (first === undefined) return;
  const found = `the database of DATABASE_URL is in use: its table authserve.${first.name} has rows`;
  throw new OperatorError({ found, remedy: `name an empty database; ${EMPTY_IT}, which deletes all of it` });
}

function refuseOther({ source, finishedAt }: { source: string; finishedAt: number | null }, own: string): void {
  if (finishedAt !== null) {
    const found = `a migration into the database of DATABASE_URL has finished at ${new Date(finishedAt).toISOString()}`;
    throw new OperatorError({ found, remedy: "start the server with DATABASE_URL" });
  }
  if (source === own) return;
  const found = "the database of DATABASE_URL has an unfinished migration of other data, or the data has changed since";
  throw new OperatorError({ found, remedy: EMPTY_IT });
}

const TYPES: Record<ColumnKind, string> = { integer: "bigint", text: "text", boolean: "boolean", bytes: "bytea" };

/** The columns as arrays. The server writes an array as the same bytes, so that both sides compute the same digest. */
const encoded = ({ columns }: CopiedTable, rows: CopiedRows): Buffer[] =>
  Object.values(columns).map((kind, index) => arrayOf(TYPES[kind], rows.columns[index] as unknown[]));

/**
 * Adds rows and moves the progress of their table, or neither if it is elsewhere: new progress, its key, old progress,
 * columns.
 */
function insertOf({ name, columns }: CopiedTable): string {
  const arrays = Object.values(columns).map((kind, index) => `$${index + 4}::${TYPES[kind]}[]`);
  return `
WITH moved AS (UPDATE authserve.metadata SET value = $1 WHERE key = $2 AND value = $3 RETURNING 1)
INSERT INTO authserve.${name} (${Object.keys(columns)})
SELECT given.* FROM unnest(${arrays}) AS given WHERE EXISTS (SELECT FROM moved)`;
}

/** The number and the digest of the rows in a range: after a key, up to another one, limit. */
function digestOf({ name, columns, key }: CopiedTable, hasStart: boolean, hasEnd: boolean): string {
  let parameters = 0;
  const parameter = (column: string) => `$${++parameters}::${TYPES[columns[column] as ColumnKind]}`;
  const bounds = ["true"];
  if (hasStart) bounds.push(`(${key}) > (${key.map(parameter)})`);
  if (hasEnd) bounds.push(`(${key}) <= (${key.map(parameter)})`);
  const arrays = Object.keys(columns).map((column) => `array_send(array_agg(${column}))`);
  return `
SELECT count(*) AS count, encode(sha256(${arrays.join(" || ")}), 'hex') AS digest FROM (
  SELECT ${Object.keys(columns)} FROM authserve.${name} WHERE ${bounds.join(" AND ")}
  ORDER BY ${key} LIMIT $${++parameters}) AS page`;
}

function sha256(parts: readonly Buffer[]): string {
  const digest = createHash("sha256");
  for (const part of parts) digest.update(part);
  return digest.digest("hex");
}

const differs = ({ name }: CopiedTable) => ({
  found: `the table authserve.${name} differs from its source: a server or another program has changed it`,
  remedy: `stop what uses the database; ${EMPTY_IT}`,
});
