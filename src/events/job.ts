/** Names a job: the work that a route has with an event. `event` is the number that the store has given it. */
export interface JobName {
  event: number;
  route: string;
}

/** A job to be added, due at a time in Unix milliseconds. */
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
  /** Counts every attempt ever; the token that fences the settle. */
  attempt: number;
  /** Counts from 1 since the job was made or last replayed; what the retry policy sees. */
  attemptOfBudget: number;
}

/** Names the attempt that a worker holds. */
export interface Claim extends JobName {
  owner: string;
  attempt: number;
}

/** How an attempt ended, and where it leaves its job. */
export interface Settlement extends Claim {
  next: Next;
  startedAt: number;
  finishedAt: number;
  /** What went wrong; null after success. */
  error: string | null;
  /** How the target's answer begins, if there was one. */
  response?: string | undefined;
}

/** Where an attempt leaves its job; a free one uses up nothing of the budget. Times are Unix milliseconds. */
export type Next =
  | { to: "processed" }
  | { to: "queued"; runAt: number; isFree?: boolean }
  | { to: "failed"; reason: string };

/** No job waits longer for its next attempt: that would only hide it. The budget ends sooner with sensible settings. */
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
