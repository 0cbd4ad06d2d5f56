import type { AttemptOutcome, Next, Status } from "./event.ts";

/** A verified delivery, ready to be stored. All times are Unix milliseconds. */
export interface NewEvent {
  source: string;
  eventId: string;
  type: string;
  /** The SHA-256 of the payload in hex where the bytes make a duplicate, because the id is unsigned; else null. */
  bytesSha256: string | null;
  /** Which of the source's secrets verified, the newest first. */
  secret: number;
  contentType: string;
  payload: Uint8Array;
  address: string;
  /** A JSON object: names in lower case, values as text. */
  headers: string;
  receivedAt: number;
}

/** What became of a delivery: new, the same again, or other bytes under a known id. */
export interface Appended {
  duplicate: boolean;
  conflict: boolean;
  /** The id of the event that is stored, where that is another one than the delivery's. */
  eventId?: string;
}

/** An event leased to a worker for one attempt. */
export interface ClaimedEvent {
  id: number;
  source: string;
  eventId: string;
  type: string;
  contentType: string;
  payload: Uint8Array;
  /** Unix milliseconds. */
  receivedAt: number;
  /** Counts every attempt ever; the token that fences the settle. */
  attempt: number;
  /** Counts from 1 since the event arrived or was last replayed; what the retry policy sees. */
  attemptOfBudget: number;
}

/** What a claim has found. */
interface Claimed {
  claimed: ClaimedEvent[];
  /** How many of them had an attempt that ended with its lease. */
  expired: number;
  /** What was dead-lettered instead. */
  buried: EventSummary[];
  /** When the next event is due or the next lease ends; null when nothing else is queued. */
  nextDueAt: number | null;
}

/** Names the attempt that a worker holds. */
export interface Claim {
  id: number;
  owner: string;
  attempt: number;
}

/** How an attempt ended, and where it leaves its event. */
export interface Settlement extends Claim {
  next: Next;
  startedAt: number;
  finishedAt: number;
  /** What went wrong; null after success. */
  error: string | null;
}

/** A stored event as a list shows it. */
export interface EventSummary {
  source: string;
  eventId: string;
  type: string;
  status: Status;
  attempts: number;
  receivedAt: number;
  processedAt: number | null;
  lastError: string | null;
}

/** An ended attempt in the history of its event. */
export interface AttemptRecord {
  attempt: number;
  startedAt: number;
  finishedAt: number;
  outcome: AttemptOutcome;
  error: string | null;
}

/** Other bytes that came under the id of an event, and how often they did. */
export interface Conflict {
  payloadSha256: string;
  deliveries: number;
  firstAt: number;
  lastAt: number;
  address: string;
  /** Null where those of the event that came before take up what one answer holds. */
  payload: Uint8Array | null;
}

/** A stored event with everything that is known of it. */
export interface EventDetail extends EventSummary {
  /** When a queued event is due, or its lease ends. */
  dueAt: number | null;
  leased: boolean;
  address: string;
  headers: Record<string, string>;
  contentType: string;
  payload: Uint8Array;
  history: AttemptRecord[];
  deadLetter: { failedAt: number; reason: string } | null;
  conflicts: Conflict[];
}

/** Which events to list: those that fit every member that is given, `limit` at most. */
export interface EventFilter {
  status?: Status;
  type?: string;
  source?: string;
  /** Unix milliseconds: received at or after. */
  since?: number;
  limit: number;
}

/** What to replay: one event of one source, the bytes of one of its conflicts (from 1, oldest first), or every dead letter. */
export type ReplayFilter =
  | { eventId: string; source: string; evenIfProcessed: boolean }
  | { eventId: string; source: string; conflict: number }
  | "dead letters";

/** How many events a replay has queued, and where it goes on; null when that was all. */
export interface Replayed {
  count: number;
  nextPage: string | null;
}

/** What is still to be done; cheap to ask. */
export interface Backlog {
  queued: number;
  failed: number;
  /** When the oldest queued event was received; null when none is queued. */
  oldestQueuedAt: number | null;
}

/** How many events there are in each status, and how often other bytes came under a known id. */
interface EventCounts extends Backlog {
  processed: number;
  conflicts: number;
}

/** What a worker asks for: up to `limit` events, for `leaseMs` from `now`. */
export interface ClaimRequest {
  owner: string;
  limit: number;
  leaseMs: number;
  maxAttempts: number;
  now: number;
  /**
   * Events that the owner works on. Their leases go on, also when the clock says that they have expired: it may have been
   * set forward, or the process stopped for a while.
   */
  holding?: readonly number[];
}

/**
 * Where events are kept until and after they are processed. Each method is one transaction. A store that cannot answer
 * throws `store_unavailable`, and then has changed nothing.
 */
export interface EventStore {
  /** Stores new events durably: when it resolves they are on disk. The results are in the order of the batch. */
  append(batch: NewEvent[]): Promise<Appended[]>;
  /**
   * Leases due events and those whose lease has expired, oldest due first, and counts the attempt. An expired lease that
   * was the last of `maxAttempts` is dead-lettered instead.
   */
  claim(request: ClaimRequest): Promise<Claimed>;
  /** Extends a lease. Returns false when it is no longer held. */
  renew(claim: Claim, leaseMs: number, now: number): Promise<boolean>;
  /** Ends attempts. False, in the order of the batch, for a claim that is no longer held: that event is not changed. */
  settle(batch: Settlement[]): Promise<boolean[]>;
  /** Gives back claims whose work was not begun: the events are due, before later ones, and the attempts are not counted. */
  release(claims: Claim[], now: number): Promise<void>;
  /**
   * Queues events again, due now, with a fresh budget and their history kept. A long replay comes in pages: it is called
   * again with `nextPage`. An event that fails again meanwhile is not replayed twice.
   */
  replay(filter: ReplayFilter, now: number, page?: string): Promise<Replayed>;
  /** Events newest first. */
  list(filter: EventFilter): Promise<EventSummary[]>;
  /** The events with this id: one for each source that has it. */
  get(eventId: string, source?: string): Promise<EventDetail[]>;
  backlog(): Promise<Backlog>;
  /** Counts every event: takes longer the more there are. */
  counts(): Promise<EventCounts>;
  /** Tells the listener when events have become due through this store. Those of other processes are found by polling. */
  onWork(listener: () => void): void;
  /** Throws `store_unavailable` when the store does not answer. */
  check(): Promise<void>;
  close(): Promise<void>;
}
