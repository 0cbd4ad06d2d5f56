import type { JobStatus } from "./event.ts";
import type { AttemptRecord } from "./job.ts";
import type { Conflict, EventDetail, EventName, EventSummary, JobDetail, Repeat } from "./store.ts";
import { summaryOf } from "./summary.ts";

/** An event as it is read, without its jobs. */
export type EventRow = Pick<EventSummary, "source" | "eventId" | "type" | "receivedAt"> & { id: number };
/**
 * An event as it is read, with its contents. `headers` is JSON. `isRerouted`: it waits to be given to the present
 * routes anew. A driver may have no boolean.
 */
export type DetailRow = EventRow &
  Pick<EventDetail, "address" | "secret" | "contentType" | "payload"> & {
    headers: string;
    isRerouted: boolean | number;
  } & ErasureRow;

/** The members are null if the event was not erased. */
interface ErasureRow {
  erasedAt: number | null;
  eraseReason: string | null;
  payloadSha256: string | null;
}

/** A job of a list. A driver may have no boolean. */
export interface ListedJobRow {
  route: string;
  status: JobStatus;
  attempts: number;
  orderingKey: string | null;
  dueAt: number | null;
  leased: boolean | number;
  endedAt: number | null;
  lastError: string | null;
}

/** A job with why it has ended, and what it waits for. */
export interface DetailJob
  extends ListedJobRow,
    Pick<JobDetail, "replays" | "probes" | "attemptsOfBudget" | "pausedAt" | "pausedUntil"> {
  earlierSource: string | null;
  earlierEventId: string | null;
  earlierStatus: JobStatus | null;
  failedAt: number | null;
  failReason: string | null;
  discardedAt: number | null;
  discardReason: string | null;
}

/** An attempt with its number among all claims of the job. A driver may have no boolean. */
export type DetailAttempt = Omit<AttemptRecord, "isProbe"> & { route: string; isProbe: boolean | number };
export type ConflictRow = Omit<Conflict, "number">;
export type RepeatRow = Omit<Repeat, "headers"> & { headers: string };

/** What belongs to an event. `jobs` is null before fan-out. */
interface Belongings {
  jobs: readonly DetailJob[] | null;
  history: readonly DetailAttempt[];
  conflicts: readonly ConflictRow[];
  repeats: readonly RepeatRow[];
}

/** An event with all that belongs to it. The numbers of repeats are behind those of conflicts. */
export function detailOf(row: DetailRow, { jobs, history, conflicts, repeats }: Belongings): EventDetail {
  const { erasedAt, eraseReason, payloadSha256 } = row;
  return {
    ...summaryOf(row, jobs),
    ...(row.isRerouted ? ({ status: "queued", processedAt: null } as const) : {}),
    address: row.address,
    secret: row.secret,
    headers: parsed(row.headers),
    contentType: row.contentType,
    payload: row.payload,
    erased: erasedAt === null ? null : { erasedAt, reason: eraseReason ?? "", payloadSha256: payloadSha256 ?? "" },
    jobs: (jobs ?? []).map((job) => jobOf(job, history)),
    conflicts: conflicts.map((conflict, index) => ({ number: index + 1, ...conflict })),
    repeats: repeats.map((repeat) => ({
      ...repeat,
      number: conflicts.length + repeat.number,
      headers: parsed(repeat.headers),
    })),
  };
}

const parsed = (headers: string) => JSON.parse(headers) as Record<string, string>;

function jobOf(row: DetailJob, history: readonly DetailAttempt[]): JobDetail {
  const { endedAt: _, leased, failedAt, failReason, discardedAt, discardReason, ...rest } = row;
  const { earlierSource, earlierEventId, earlierStatus, ...job } = rest;
  return {
    ...job,
    leased: Boolean(leased),
    earlier: earlierOf({ earlierSource, earlierEventId, earlierStatus }),
    deadLetter: failedAt === null ? null : { failedAt, reason: failReason ?? "" },
    discarded: job.status === "discarded" && discardedAt !== null ? { discardedAt, reason: discardReason ?? "" } : null,
    history: historyOf(history.filter(({ route }) => route === job.route)),
  };
}

function earlierOf({
  earlierSource: source,
  earlierEventId: eventId,
  earlierStatus: status,
}: Pick<DetailJob, "earlierSource" | "earlierEventId" | "earlierStatus">): (EventName & { status: JobStatus }) | null {
  return source === null || eventId === null || status === null ? null : { source, eventId, status };
}

/** Attempts numbered without the probes before them. */
function historyOf(attempts: readonly DetailAttempt[]): AttemptRecord[] {
  let probes = 0;
  return attempts.map(({ route: _, ...attempt }) => {
    const isProbe = Boolean(attempt.isProbe);
    const number = attempt.attempt - probes;
    if (isProbe) probes++;
    return { ...attempt, attempt: number, isProbe };
  });
}
