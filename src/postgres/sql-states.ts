import { DatabaseError } from "pg";
import { AppError, OperatorError } from "../errors.ts";

/** SQLSTATE of a server that does not take writes: it became a standby, or its disk is read-only. */
export const READ_ONLY = "25006";
/** SQLSTATE of a full disk. */
export const FULL = "53100";
/** SQLSTATE of a statement that has waited too long for a lock. */
export const LOCK_TIMEOUT = "55P03";
/** SQLSTATE of a statement that the user may not run. */
export const NO_RIGHT = "42501";
/** SQLSTATE of a statement after a failed one in the same transaction. */
export const ABORTED = "25P02";
/** SQLSTATE of a server that has no place for another connection. */
export const TOO_MANY_CONNECTIONS = "53300";
/** SQLSTATE of a named statement that a pooler has prepared on another connection. */
export const LOST_STATEMENTS = ["26000", "42P05"];
/** SQLSTATE of a named statement whose result changed its types, because a newer version has changed a table. */
const STALE_STATEMENT = "0A000";
/** Also SQLSTATE of a serialization failure and of a deadlock. Nothing was changed, and a second try can succeed. */
export const RETRIED = ["40001", "40P01", STALE_STATEMENT, ...LOST_STATEMENTS];

/** The SQLSTATE of an error of the server, or of the cause of `store_unavailable`; undefined for any other error. */
export function sqlState(error: unknown): string | undefined {
  const cause = error instanceof AppError ? error.cause : error;
  return cause instanceof DatabaseError ? cause.code : undefined;
}

/** Whether a connection can be used after this error: the server refused one statement, or a step of ours failed. */
export function isUsable(error: unknown): boolean {
  if (error instanceof AppError || error instanceof OperatorError) return true;
  const state = sqlState(error);
  // After the others the server closes the connection. It cannot replace a stale statement.
  return state !== undefined && !/^(?:08|57P|25P0|25006|0A000)/.test(state);
}

/** Whether an error says that the server is away, rather than that it refused one statement. */
export function isOutage(error: unknown): boolean {
  const state = sqlState(error);
  return state === undefined || /^(?:08|28|3D|53|57P|58|25006)/.test(state);
}
