import type { Fault } from "../errors.ts";
import type { Queries } from "./connection.ts";

/** A session that has a lock on a table. */
export interface Lock {
  table: string;
  /** 0 is a prepared transaction, which no session has. */
  pid: number;
  /** What the session calls itself. */
  program?: string;
}

/** Names who has a lock that others wait for, and how to end that. */
export function faultOfLock({ table, pid, program }: Lock): Fault {
  const session = `the session ${pid}${program ? ` (${program})` : ""}`;
  const found = `${pid === 0 ? "a prepared transaction" : session} locks authserve.${table}`;
  const remedy =
    pid === 0 ? "end it: see pg_prepared_xacts" : `end its transaction, or run SELECT pg_terminate_backend(${pid})`;
  return { found, remedy };
}

/**
 * The lock of the transaction that has one for the longest time. The start of what another user runs is hidden: it
 * comes first, because servers of authserve have short ones.
 */
const OLDEST_LOCK = `
SELECT relname AS table, coalesce(pid, 0) AS pid, coalesce(nullif(application_name, ''), backend_type, '') AS program
FROM pg_locks JOIN pg_class ON pg_class.oid = relation LEFT JOIN pg_stat_activity USING (pid)
WHERE relnamespace = to_regnamespace('authserve') AND relkind = 'r' AND granted AND pid IS DISTINCT FROM pg_backend_pid()
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
ORDER BY xact_start NULLS FIRST, mode = 'AccessShareLock', relname LIMIT 1`;

/** Names the transaction that has locks on tables for the longest time. Null if there is none any more. */
export async function faultOfOldestLock(queries: Queries): Promise<Fault | null> {
  const [lock] = await queries.rows<Lock>(OLDEST_LOCK);
  return lock === undefined ? null : faultOfLock(lock);
}
