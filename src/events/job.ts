/** The one route if the configuration file has none. It takes every event. */
export const DEFAULT_ROUTE = "default";

/** Identifies a job: the processing of one event for one route. `event` is the store's number of the event. */
export interface JobName {
  event: number;
  route: string;
}

/** A job to add. `dueAt` is in Unix milliseconds. */
export interface NewJob extends JobName {
  dueAt: number;
  /** Jobs of a route with the same key run one at a time, in order of arrival. Null: in any order. */
  orderingKey: string | null;
  /** Why it is a dead letter from the start, at `dueAt`. */
  failure?: string;
}

/** A job leased to a worker for one attempt, with its event. */
export interface ClaimedJob extends JobName {
  source: string;
  eventId: string;
  type: string;
  contentType: string;
  payload: Uint8Array;
  /** The stored headers of the delivery: a JSON object with names in lower case and string values. */
  headers: string;
  /** Unix milliseconds. */
  receivedAt: number;
  /** The job was replayed. */
  isReplay: boolean;
  /** The number of this attempt among all attempts of the job. It is also the fencing token of the claim. */
  attempt: number;
  /** The number of this attempt, from 1, without the probes before it. Handlers are told this one. */
  countedAttempt: number;
  /** The number of this attempt, from 1, since the job was made or last replayed. The retry policy uses it. */
  attemptOfBudget: number;
}

/** Whether the job was a dead letter before its first attempt: no route has judged its event. */
export const isUnjudged = ({ isReplay, attempt, attemptOfBudget }: ClaimedJob) =>
  isReplay && attempt === attemptOfBudget;

/** The idempotency key of a job, the same in all attempts and replays. Two sources may have the same event id. */
export function idempotencyKeyOf({ route, source, eventId }: Pick<ClaimedJob, "route" | "source" | "eventId">): string {
  const ofEvent = source === "default" ? eventId : `${source}/${eventId}`;
  return route === DEFAULT_ROUTE ? ofEvent : `${route}/${source}/${eventId}`;
}

/** Identifies the attempt that a worker has claimed. */
export interface Claim extends JobName {
  owner: string;
  attempt: number;
}

/** How an attempt ended, and the next status of its job. */
export interface Settlement extends Claim {
  next: Next;
  startedAt: number;
  finishedAt: number;
  /** The error, or null after success. */
  error: string | null;
  /** The HTTP status of the target's response, if there was one. */
  responseStatus?: number | undefined;
  /** The beginning of the target's response, if there was one. */
  response?: string | undefined;
}

/**
 * The next status of a job. A free attempt, such as a failed probe, does not count towards the budget. A failed job
 * that blocks keeps the later jobs of its ordering key waiting. Times are Unix milliseconds.
 */
export type Next =
  | { to: "processed" }
  | { to: "queued"; runAt: number; isFree?: boolean; isProbe?: boolean }
  | { to: "failed"; reason: string; blocks?: boolean };

/** The longest wait for the next attempt. A longer one would only hide the job. */
export const MAX_WAIT_MS = 24 * 3_600_000;

/** How an attempt ended, as kept in its history. */
export type AttemptOutcome = "succeeded" | "failed" | "lease_expired";

/** An ended attempt in the history of its job. */
export interface AttemptRecord {
  /** Its number among all attempts of the job that are no probes. */
  attempt: number;
  startedAt: number;
  finishedAt: number;
  outcome: AttemptOutcome;
  error: string | null;
  /** The HTTP status of the response. Null without one, and for attempts before this was kept. */
  responseStatus: number | null;
  response: string | null;
  /** It only tried whether the target is available again, and cost nothing. */
  isProbe: boolean;
  /** The replay that it belongs to, from 1; 0 before the first one. Null for attempts before this was kept. */
  replay: number | null;
  /** Its number since the job was made or replayed. Null for attempts before this was kept. */
  attemptOfBudget: number | null;
}
