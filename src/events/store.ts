import type { Status } from "./event.ts";
import type { AttemptRecord, Claim, ClaimedJob, JobName, NewJob, Settlement } from "./job.ts";

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

/** An event that no route has been asked about yet: what routing decides by. */
export interface UnroutedEvent {
  id: number;
  source: string;
  type: string;
  receivedAt: number;
}

/** A job that became a dead letter because the lease of its last attempt ran out. */
export interface BuriedJob {
  source: string;
  eventId: string;
  type: string;
  route: string;
  attempt: number;
  error: string;
}

/** A job that became a dead letter because the store is damaged where its event lies. */
export interface UnreadableJob extends JobName {
  /** Null where not even that can be read. */
  eventId: string | null;
  error: string;
}

/** What a claim has found. */
interface Claimed {
  claimed: ClaimedJob[];
  /** How many jobs wait because their attempt ended with its lease. */
  expired: number;
  /** Those whose last attempt ended with its lease. */
  buried: BuriedJob[];
  /** Those whose events cannot be read, or have other bytes than came. */
  unreadable: UnreadableJob[];
  /** When the next job is due or the next lease ends; null when nothing else is queued. */
  nextDueAt: number | null;
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

/** What a route has done with an event. */
export interface JobDetail {
  route: string;
  status: Status;
  attempts: number;
  /** When a queued job is due, or its lease ends. */
  dueAt: number | null;
  leased: boolean;
  lastError: string | null;
  deadLetter: { failedAt: number; reason: string } | null;
  history: AttemptRecord[];
}

/** A stored event with everything that is known of it. */
export interface EventDetail extends EventSummary {
  address: string;
  headers: Record<string, string>;
  contentType: string;
  payload: Uint8Array;
  /** None before fan-out. */
  jobs: JobDetail[];
  conflicts: Conflict[];
}

/** Which events to list: those that fit every member that is given, `limit` at most. */
export interface EventFilter {
  status?: Status;
  type?: string;
  source?: string;
  /** Unix milliseconds: received at or after. */
  since?: number;
  /** Unix milliseconds: received before. */
  until?: number;
  /** A part of the last error of one of its jobs, whatever the case of its letters. */
  error?: string;
  /** Cursors of an earlier page: older than one of its ends, newer than the other. */
  before?: string;
  after?: string;
  limit: number;
}

/** A part of a list of events, newest first. */
export interface EventPage {
  items: EventSummary[];
  /** Where the next page begins (`before`); null when this was the last. */
  older: string | null;
  /** Where newer events will come (`after`). */
  newer: string;
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

/** How many events there are in each status, and how often other bytes came under a known id. */
export interface Backlog {
  queued: number;
  processed: number;
  failed: number;
  conflicts: number;
  /** Jobs among the dead letters whose events cannot be read. */
  unreadable: number;
  /** When the queued event that came first was received; null when none is queued. */
  oldestQueuedAt: number | null;
}

/** What a worker asks for: up to `limit` jobs of a route, for `leaseMs` from `now`. */
export interface ClaimRequest {
  route: string;
  owner: string;
  limit: number;
  leaseMs: number;
  /**
   * How long a job waits whose attempt of the budget ended with its lease, from the first attempt on. The attempt behind
   * the last wait is the last one.
   */
  retryDelaysMs: readonly number[];
  now: number;
  /**
   * Events whose jobs of this route the owner works on. Their leases go on, also when the clock says that they have
   * expired: it may have been set forward, or the process stopped for a while.
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
  /** The events that came first of those without jobs, in the order in which they came. */
  unrouted(limit: number): Promise<UnroutedEvent[]>;
  /** Adds the jobs of all unrouted events up to one. Changes nothing when that one has its jobs already. */
  addJobs(upTo: number, jobs: NewJob[]): Promise<void>;
  /**
   * Leases due jobs, oldest due first, and counts the attempt. A job whose lease has expired waits as after any failed
   * attempt; when that was the last one it is dead-lettered. So is a job whose event cannot be read: the others go on.
   */
  claim(request: ClaimRequest): Promise<Claimed>;
  /** Extends a lease. Returns false when it is no longer held. */
  renew(claim: Claim, leaseMs: number, now: number): Promise<boolean>;
  /** Ends attempts. False, in the order of the batch, for a claim that is no longer held: that job is not changed. */
  settle(batch: Settlement[]): Promise<boolean[]>;
  /** Gives back claims whose work was not begun: the jobs are due, before later ones, and the attempts are not counted. */
  release(claims: Claim[], now: number): Promise<void>;
  /**
   * Queues the jobs of events again, due now, with a fresh budget and their history kept. A long replay comes in pages: it
   * is called again with `nextPage`. What fails again meanwhile is not replayed twice.
   */
  replay(filter: ReplayFilter, now: number, page?: string): Promise<Replayed>;
  /** Events newest first: the last to come is the first. */
  list(filter: EventFilter): Promise<EventPage>;
  /** The events with this id: one for each source that has it. */
  get(eventId: string, source?: string): Promise<EventDetail[]>;
  /** As quick with millions of events as with none. */
  backlog(): Promise<Backlog>;
  /** Tells the listener when events have come or jobs have become due through this store. Those of other processes are found by polling. */
  onWork(listener: () => void): void;
  /** Throws `store_unavailable` when the store does not answer, and while there are jobs whose events cannot be read. */
  check(): Promise<void>;
  close(): Promise<void>;
}
