import { setTimeout as delay } from "node:timers/promises";
import { AppError, describeError, faultText, OperatorError } from "../errors.ts";
import { secondsSince } from "../lib/figures.ts";
import type { Log } from "../log.ts";
import { STEPS_KEY, stepsToRecord, updatedText, updatingText } from "../storage/schema-steps.ts";
import { type Postgres, type Queries, WHOLE_TABLE_MS } from "./connection.ts";
import { faultOfOldestLock } from "./locks.ts";
import { writeMetadata } from "./metadata.ts";
import { type FoundSchema, readSchema, SCHEMA, STEP_DIGESTS, statementsOfSteps } from "./schema.ts";
import { FULL, isOutage, LOCK_TIMEOUT, NO_RIGHT, sqlState } from "./sql-states.ts";

// While a step waits for a lock on a table, all others wait behind it. Their operations must not fail meanwhile, so
// this is less than their time limit. It is more than `deadlock_timeout`, after which autovacuum gives way.
const LOCK_TIMEOUT_MS = 2000;
const LOCK_PAUSE_MS = 8000;

/** Any number that no other program in this database locks. */
const UPDATE_LOCK = 7_275_433_210;

/**
 * Brings the database up to date. Servers that start at once wait for each other. While another program has a lock on a
 * table, it tries again. Throws {@link OperatorError} if a newer version has been here, and if a step is refused.
 */
export async function prepareSchema(postgres: Postgres, log: Log): Promise<void> {
  const { version, steps } = await usableSchema(postgres);
  if (version === SCHEMA && stepsToRecord(steps, STEP_DIGESTS) === null) return;
  const line = { fromSchema: version, toSchema: SCHEMA };
  const isOlder = version > 0 && version < SCHEMA;
  if (isOlder) log.info({ event: "schema_updating", ...line }, updatingText(version, SCHEMA));
  const startedAt = performance.now();
  let reached = 0;
  while (reached < SCHEMA) {
    const next = await postgres.transaction(takeSteps, { timeoutMs: WHOLE_TABLE_MS }).catch((error: unknown) => {
      if (sqlState(error) !== LOCK_TIMEOUT) throw isOlder ? refusal(error) : error;
      return null;
    });
    if (next === null) await waitForLock(postgres, startedAt, log);
    else reached = next;
  }
  if (!isOlder) return;
  const seconds = secondsSince(startedAt);
  log.info({ event: "schema_updated", ...line, seconds }, updatedText(SCHEMA, seconds));
}

async function usableSchema(queries: Queries): Promise<FoundSchema> {
  const found = await readSchema(queries);
  if (found.fault === null) return found;
  throw new OperatorError({ found: `the database ${found.fault.found}`, remedy: found.fault.remedy });
}

/**
 * Takes the next step; all of them if the database is empty. One by one, because a step that changes a table locks it
 * until its transaction ends, and another step may take minutes. Returns the schema.
 */
async function takeSteps(queries: Queries): Promise<number> {
  void queries.run("SET LOCAL lock_timeout = 0");
  // Without a lock several servers that create a table at once get errors.
  await queries.run("SELECT pg_advisory_xact_lock($1)", [UPDATE_LOCK]);
  const { version, steps } = await usableSchema(queries);
  const next = version === 0 ? SCHEMA : Math.min(version + 1, SCHEMA);
  void queries.run(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
  if (version === 0) {
    await queries.run("CREATE SCHEMA IF NOT EXISTS authserve");
    await queries.run("CREATE TABLE authserve.schema_version (version integer NOT NULL)");
    await queries.run("INSERT INTO authserve.schema_version VALUES (0)");
  }
  for (const statement of statementsOfSteps(version, next)) await queries.run(statement);
  if (version < next) await queries.run("UPDATE authserve.schema_version SET version = $1", [next]);
  const record = stepsToRecord(steps, STEP_DIGESTS.slice(0, next));
  if (record !== null) await writeMetadata(queries, STEPS_KEY, record);
  return next;
}

/** Tells who has the lock, and leaves the table to others for a while. */
async function waitForLock(postgres: Postgres, startedAt: number, log: Log): Promise<void> {
  const fault = await faultOfOldestLock(postgres);
  // It has just ended.
  if (fault === null) return;
  const { found, remedy } = { ...fault, found: `the database cannot be updated: ${fault.found}` };
  if (performance.now() > startedAt + WHOLE_TABLE_MS) throw new OperatorError({ found, remedy }, 1);
  log.warn({ event: "schema_update_blocked" }, `${faultText({ found, remedy })}; trying again`);
  await delay(LOCK_PAUSE_MS);
}

const REMEDIES: Record<string, string> = {
  [FULL]: "make space on the disk of PostgreSQL",
  [NO_RIGHT]: "let the user of DATABASE_URL own the schema authserve and its tables (ALTER TABLE … OWNER TO …)",
};

/** Why a step was not taken. Those before it stay. */
function refusal(error: unknown): unknown {
  if (!(error instanceof AppError) || (isOutage(error) && sqlState(error) !== FULL)) return error;
  const state = sqlState(error) ?? "";
  const found = `the database cannot be updated (${describeError(error.cause)})`;
  const remedy = `${REMEDIES[state] ?? "correct that"}; the next start goes on with it`;
  return new OperatorError({ found, remedy }, state === NO_RIGHT ? 2 : 1);
}
