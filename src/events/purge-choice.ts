import type { CountedStatus, JobStatus } from "./event.ts";
import { MAX_COMPARED_EVENTS } from "./limits.ts";
import { addTaken, createPurgeRule, endOf, NOTHING_TAKEN, type StoredTotals, type Taken } from "./retention.ts";
import type { PurgeRequest } from "./store.ts";
import type { PlausibleTime } from "./timeline.ts";

/** Where a purge goes on. `taken` is what a dry run has counted so far. */
interface Position {
  phase: "contents" | "ids" | "space";
  after: number;
  taken: Taken;
}

const START: Position = { phase: "contents", after: 0, taken: NOTHING_TAKEN };

/** The cursor of a page. */
export const cursorOf = ({ phase, after, taken: { processed, failed } }: Position) =>
  [phase, after, processed.count, processed.bytes, failed.count, failed.bytes].join("-");

/** Reads the cursor of a page. */
export function positionOf(cursor: string | undefined): Position {
  if (cursor === undefined) return START;
  const [phase, ...numbers] = cursor.split("-");
  const [after = 0, processed = 0, processedBytes = 0, failed = 0, failedBytes = 0] = numbers.map(Number);
  const taken = {
    processed: { count: processed, bytes: processedBytes },
    failed: { count: failed, bytes: failedBytes },
  };
  return { phase: phase as Position["phase"], after, taken };
}

/**
 * The numbers of what is stored, and the size of the database with about what an event takes beside its payload and
 * headers.
 */
export type TotalsRow = Record<
  "processed" | "processedBytes" | "failed" | "failedBytes" | "databaseBytes" | "bytesPerEvent",
  number
>;

/** An event, or an id, that a purge looks at. */
export interface PurgeRow {
  event: number;
  receivedAt: number;
  bytes: number;
}

interface EndedJob {
  status: JobStatus;
  endedAt: number | null;
}

/** An event to remove, as it was when it was read. */
export interface Expired<Job extends EndedJob = EndedJob> extends PurgeRow {
  status: Exclude<CountedStatus, "queued">;
  endedAt: number;
  jobs: readonly Job[];
}

/** What is known of the candidates of a page. `jobsOf` returns null for an event before fan-out. */
interface Page<Job extends EndedJob> {
  timeOf(row: PurgeRow): PlausibleTime;
  jobsOf(event: number): readonly Job[] | null;
}

/** Chooses the events of a page to remove, with the cursor of the next page. */
export function chooseEvents<Job extends EndedJob>(
  rows: readonly PurgeRow[],
  { timeOf, jobsOf }: Page<Job>,
  { retention, now, limit, isDryRun }: PurgeRequest,
  { after, taken, totals }: Position & { totals: TotalsRow },
): { events: Expired<Job>[]; bytes: number; next: string } {
  const rule = createPurgeRule(retention, withoutTaken(totals, taken), now);
  const events: Expired<Job>[] = [];
  let last = after;
  let isDone = false;
  for (const row of rows) {
    const { at: receivedAt, isAhead } = timeOf(row);
    const isYoung = rule.isDoneAt(receivedAt);
    isDone = isYoung && !isAhead;
    if (isDone || events.length === limit) break;
    last = row.event;
    const jobs = isYoung ? null : jobsOf(row.event);
    const event = jobs && expiry({ ...row, receivedAt }, jobs, rule);
    if (event) events.push(event);
  }
  const hasMore = !isDone && (events.length === limit || rows.length === MAX_COMPARED_EVENTS);
  const next: Position = hasMore
    ? { phase: "contents", after: last, taken: isDryRun ? addTaken(taken, events) : taken }
    : { ...START, phase: "ids" };
  return { events, bytes: events.reduce((sum, { bytes }) => sum + bytes, 0), next: cursorOf(next) };
}

function withoutTaken(found: TotalsRow, { processed, failed }: Taken): StoredTotals {
  const count = processed.count + failed.count;
  const { bytesPerEvent } = found;
  return {
    bytesPerEvent,
    processed: { count: found.processed - processed.count, bytes: found.processedBytes - processed.bytes },
    failed: { count: found.failed - failed.count, bytes: found.failedBytes - failed.bytes },
    databaseBytes: found.databaseBytes - processed.bytes - failed.bytes - count * bytesPerEvent,
  };
}

/** An event with its jobs if a rule takes it, else null. */
function expiry<Job extends EndedJob>(
  row: PurgeRow,
  jobs: readonly Job[],
  rule: ReturnType<typeof createPurgeRule>,
): Expired<Job> | null {
  const { status, endedAt } = endOf(row.receivedAt, jobs);
  if (!rule.takes({ status, endedAt, bytes: row.bytes }) || status === "queued") return null;
  return { ...row, status, endedAt, jobs };
}

/** Chooses the ids of a page to remove: those whose events are removed. `then` is the phase after the last page. */
export function chooseIds(
  rows: readonly (PurgeRow & { hasContents: boolean | number })[],
  { timeOf, jobsOf }: Page<EndedJob>,
  { retention, now, limit, isDryRun }: PurgeRequest,
  position: Position,
  then: "space" | null,
): { ids: number[]; next: string | null } {
  const cutoff = now - retention.idsMs;
  const timed = rows.map((row) => ({ ...row, ...timeOf(row) }));
  const isDone = timed.some(({ at, isAhead }) => at > cutoff && !isAhead);
  const rule = createPurgeRule(retention, { ...NOTHING_TAKEN, databaseBytes: 0, bytesPerEvent: 0 }, now);
  // In a dry run the expired events are still there.
  const isExpired = (row: PurgeRow & { at: number }) =>
    expiry({ ...row, receivedAt: row.at }, jobsOf(row.event) ?? [], rule) !== null;
  const ids = timed
    .filter((row) => row.at <= cutoff && (!row.hasContents || (isDryRun && isExpired(row))))
    .slice(0, limit)
    .map(({ event }) => event);
  const isFull = ids.length === limit;
  const hasMore = isFull || (rows.length === MAX_COMPARED_EVENTS && !isDone);
  const after = (isFull ? ids.at(-1) : rows.at(-1)?.event) ?? 0;
  if (hasMore) return { ids, next: cursorOf({ ...position, after }) };
  return { ids, next: isDryRun || then === null ? null : cursorOf({ ...START, phase: then }) };
}
