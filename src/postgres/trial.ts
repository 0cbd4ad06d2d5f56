import { AppError, describeError } from "../errors.ts";
import { trialEvent } from "../events/trial-event.ts";
import type { StoreFault, StorePart } from "../storage/faults.ts";
import { tablesIn } from "../storage/tables.ts";
import { type Postgres, type Queries, sqlState } from "./connection.ts";
import { addNew } from "./event-append.ts";
import { faultOfLock, type Lock } from "./locks.ts";
import { FULL, LOCK_TIMEOUT, READ_ONLY } from "./sql-states.ts";
import { texts } from "./values.ts";

const PART_OF = new Map(tablesIn("postgres").map(({ name, part }) => [name, part] as const));
const NAMES = [...PART_OF.keys()];

/** The parts of a database of PostgreSQL. */
export const PARTS: readonly StorePart[] = [...new Set(PART_OF.values())];

/** What is wrong with tables: names. Rights that are missing are named. */
const UNUSABLE = `
SELECT name AS table, found IS NOT NULL AS "isThere", missing, current_user AS user
FROM unnest($1::text[]) AS given (name), to_regclass('authserve.' || name) AS found,
  LATERAL (SELECT coalesce(string_agg(privilege, ', '), '') AS missing
    FROM unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS needed (privilege)
    WHERE NOT has_table_privilege(found, privilege)) AS lacking
WHERE found IS NULL OR missing <> ''`;

interface UnusableRow {
  table: string;
  isThere: boolean;
  missing: string;
  user: string;
}

/** The sessions whose locks writes to tables wait for: names. Without a process it is a prepared transaction. */
const LOCKED = `
SELECT DISTINCT ON (relname) relname AS table, coalesce(pid, 0) AS pid
FROM pg_locks JOIN pg_class ON pg_class.oid = relation
WHERE relation = ANY (SELECT to_regclass('authserve.' || name)::oid FROM unnest($1::text[]) AS given (name))
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND pid IS DISTINCT FROM pg_backend_pid()
  AND mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
ORDER BY relname, granted DESC`;

// The probe that asks for readiness gives up after a second or more.
const LOCK_TIMEOUT_MS = 1000;

// Each trial delivery leaves a dead row in five tables.
const STORE_EVERY_MS = 5000;

/** Tries to write. */
interface PostgresTrial {
  /**
   * Asks for the rights and the locks that writes to each table need, and stores a delivery, in a transaction that is
   * rolled back. Returns what was refused. After a stored delivery the next seconds go without one.
   */
  run(): Promise<StoreFault[]>;
  /** An append has failed: the next trial stores a delivery. */
  appendFailed(): void;
}

/** Creates the trial of a database. */
export function createTrial(postgres: Postgres): PostgresTrial {
  let storedAt = Number.NEGATIVE_INFINITY;

  /** Returns the faults of tables. Throws when a statement is refused. */
  async function tryTables(queries: Queries): Promise<StoreFault[]> {
    const unusable = await queries.rows<UnusableRow>(UNUSABLE, [texts(NAMES)]);
    const names = new Set(unusable.map(({ table }) => table));
    const usable = NAMES.filter((name) => !names.has(name)).map((name) => `authserve.${name}`);
    if (usable.length > 0) await queries.run(`LOCK TABLE ${usable.join(", ")} IN ROW EXCLUSIVE MODE`);
    return unusable.map(faultOf);
  }

  async function tryDelivery(queries: Queries): Promise<void> {
    const startedAt = performance.now();
    if (startedAt - storedAt < STORE_EVERY_MS) return;
    await addNew(queries)([trialEvent(Date.now())]);
    storedAt = startedAt;
  }

  return {
    async run() {
      let faults: StoreFault[] | undefined;
      try {
        await postgres.rolledBack(async (queries) => {
          void queries.run(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
          faults = await tryTables(queries);
          if (!faults.some(({ part }) => part === "events")) await tryDelivery(queries);
        });
        return faults ?? [];
      } catch (error) {
        const state = sqlState(error);
        if (state === LOCK_TIMEOUT) return (await postgres.rows<Lock>(LOCKED, [texts(NAMES)])).map(lockOf);
        if (faults === undefined || state === undefined) throw error;
        return [...faults, refusalOf(error, state)];
      }
    },
    appendFailed() {
      storedAt = Number.NEGATIVE_INFINITY;
    },
  };
}

const partOf = (table: string) => PART_OF.get(table) ?? "events";

function faultOf({ table, isThere, missing, user }: UnusableRow): StoreFault {
  const part = partOf(table);
  if (!isThere) {
    const found = `the table authserve.${table} does not exist`;
    return { part, found, remedy: "rename it back, or restore a backup" };
  }
  const found = `the user ${user} lacks the right ${missing} on authserve.${table}`;
  return { part, found, remedy: `run GRANT ${missing} ON authserve.${table} TO ${user} as its owner` };
}

const REMEDIES: Record<string, string> = {
  [READ_ONLY]: "make PostgreSQL writable, or name the primary in DATABASE_URL",
  [FULL]: "make space on the disk of PostgreSQL",
};

function refusalOf(error: unknown, state: string): StoreFault {
  const found = `a trial delivery was refused (${describeError(error instanceof AppError ? error.cause : error)})`;
  return { part: "events", found, remedy: REMEDIES[state] ?? "undo what was changed in the schema authserve" };
}

const lockOf = (lock: Lock): StoreFault => ({ part: partOf(lock.table), ...faultOfLock(lock) });
