import { DAY_MS } from "../lib/durations.ts";
import { type CountedStatus, countedAs, type JobStatus, statusOf } from "./event.ts";

/**
 * How long events of a status are kept, and how many, in number and in bytes of payloads and headers. Infinity: no
 * limit.
 */
export interface Keep {
  forMs: number;
  count: number;
  bytes: number;
}

/** What is kept. Queued events always are. */
export interface Retention {
  processed: Keep;
  failed: Keep;
  /** How long ids are kept after the receipt, at least as long as their events. */
  idsMs: number;
  /**
   * The largest size of the database. Beyond it the oldest processed events are removed, then the oldest failed ones.
   */
  maxBytes: number;
}

const keepFor = (days: number): Keep => ({ forMs: days * DAY_MS, count: Infinity, bytes: Infinity });

/** The retention unless the configuration file says otherwise. */
export const DEFAULT_RETENTION: Retention = {
  processed: keepFor(30),
  failed: keepFor(90),
  idsMs: 90 * DAY_MS,
  maxBytes: Infinity,
};

/** What is stored. */
export interface StoredTotals {
  processed: { count: number; bytes: number };
  failed: { count: number; bytes: number };
  databaseBytes: number;
  /** About what an event takes beside its payload and headers: its jobs, attempts and indexes. */
  bytesPerEvent: number;
}

/** An event that a purge may remove. `endedAt` is when the last of its jobs ended, or its receipt if it has none. */
interface PurgeCandidate {
  status: CountedStatus;
  endedAt: number;
  bytes: number;
}

/** How many events of each status a purge has taken, and their bytes. */
export type Taken = Record<"processed" | "failed", { count: number; bytes: number }>;

/** What a purge has taken before it begins. */
export const NOTHING_TAKEN: Taken = { processed: { count: 0, bytes: 0 }, failed: { count: 0, bytes: 0 } };

/** Adds events to those that are taken. */
export function addTaken(
  taken: Taken,
  events: readonly { status: Exclude<CountedStatus, "queued">; bytes: number }[],
): Taken {
  const sums = { processed: { ...taken.processed }, failed: { ...taken.failed } };
  for (const { status, bytes } of events) {
    sums[status].count++;
    sums[status].bytes += bytes;
  }
  return sums;
}

/** The status of an event, and when the last of its jobs ended, or its receipt if it has none. */
export function endOf(
  receivedAt: number,
  jobs: readonly { status: JobStatus; endedAt: number | null }[],
): Pick<PurgeCandidate, "status" | "endedAt"> {
  return {
    status: countedAs(statusOf(jobs.map(({ status }) => status))),
    endedAt: Math.max(receivedAt, ...jobs.map(({ endedAt }) => endedAt ?? 0)),
  };
}

/** Chooses the events to remove among all events, oldest first. */
interface PurgeRule {
  /** Whether to remove an event. Then it counts as removed. */
  takes(event: PurgeCandidate): boolean;
  /** Whether no event received at this time or later is to be removed. */
  isDoneAt(receivedAt: number): boolean;
}

/** Creates the rule for what is stored now. */
export function createPurgeRule(retention: Retention, totals: StoredTotals, now: number): PurgeRule {
  const excessOf = (status: "processed" | "failed") => ({
    count: totals[status].count - retention[status].count,
    bytes: totals[status].bytes - retention[status].bytes,
  });
  const excess = { processed: excessOf("processed"), failed: excessOf("failed") };
  const spaceExcess = totals.databaseBytes - retention.maxBytes;
  const space = {
    processed: spaceExcess,
    failed: spaceExcess - totals.processed.bytes - totals.processed.count * totals.bytesPerEvent,
  };
  const newestCutoff = now - Math.min(retention.processed.forMs, retention.failed.forMs);

  const isOver = (status: "processed" | "failed") =>
    excess[status].count > 0 || excess[status].bytes > 0 || space[status] > 0;

  return {
    takes({ status, endedAt, bytes }) {
      if (status === "queued") return false;
      const isExpired = endedAt <= now - retention[status].forMs;
      if (!isExpired && !isOver(status)) return false;
      excess[status].count--;
      excess[status].bytes -= bytes;
      space[status] -= bytes + totals.bytesPerEvent;
      return true;
    },
    isDoneAt: (receivedAt) => receivedAt > newestCutoff && !isOver("processed") && !isOver("failed"),
  };
}
