/** Identifies a job: the processing of one event for one route. `event` is the store's number of the event. */
export interface JobName {
  event: number;
  route: string;
}

/** A job to add. `dueAt` is in Unix milliseconds. */
export interface NewJob extends JobName {
  dueAt: number;
}

/** A job leased to a worker for one attempt, with its event. */
export interface ClaimedJob extends JobName {
  source: string;
  eventId: string;
  type: string;
  contentType: string;
  payload: Uint8Array;
  /** Unix milliseconds. */
  receivedAt: number;
  /** The number of this attempt among all attempts of the job. It is also the fencing token of the claim. */
  attempt: number;
  /** The number of this attempt, from 1, since the job was made or last replayed. The retry policy uses it. */
  attemptOfBudget: number;
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
  /** The beginning of the target's response, if there was one. */
  response?: string | undefined;
}

/** The next status of a job. A free attempt does not count towards the budget. Times are Unix milliseconds. */
export type Next =
  | { to: "processed" }
  | { to: "queued"; runAt: number; isFree?: boolean }
  | { to: "failed"; reason: string };

/** The longest wait for the next attempt. A longer one would only hide the job. */
export const LONGEST_WAIT_MS = 24 * 3_600_000;

/** How an attempt ended, as kept in its history. */
export type AttemptOutcome = "succeeded" | "failed" | "lease_expired";

/** An ended attempt in the history of its job. */
export interface AttemptRecord {
  attempt: number;
  startedAt: number;
  finishedAt: number;
  outcome: AttemptOutcome;
  error: string | null;
  response: string | null;
}
