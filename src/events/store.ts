import type { ErasedEvent, Erasure, Remains } from "./erasure.ts";
import type { JobStatus, Status } from "./event.ts";
import type { AttemptRecord, Claim, ClaimedJob, JobName, NewJob, Settlement } from "./job.ts";
import type { Retention } from "./retention.ts";
import type { Comparison, ComparisonCounts, KeptDifference } from "./shadow.ts";
import type { RouteAttempts, StatRequest, Stats } from "./stats.ts";
import type { ClockNote } from "./wrong-clock.ts";

/**
 * A verified delivery, ready to be stored. All times are Unix milliseconds. Its texts are well-formed and without
 * U+0000.
 */
export interface NewEvent {
  source: string;
  eventId: string;
  type: string;
  /** The SHA-256 of the payload in hex if the bytes identify a duplicate. Else null. */
  bytesSha256: string | null;
  /**
   * Null: the id or the bytes decide for as long as the stored event is known. Otherwise only equal bytes within this
   * many ms are a duplicate; 0: never. A new event whose id is taken is then stored as `ID~2`, `ID~3` and so on.
   */
  sameWithinMs: number | null;
  /**
   * Where the secret that verified the signature is set, e.g. `env:NAME`; or that nobody signed it, see captured.ts.
   */
  secret: string;
  contentType: string;
  payload: Uint8Array;
  address: string;
  /** A JSON object with names in lower case and string values. */
  headers: string;
  receivedAt: number;
}

/** The result of storing a delivery: new, a duplicate, a conflict (other bytes under a known id), or a repeat. */
export interface Appended {
  duplicate: boolean;
  conflict: boolean;
  /** The duplicate is kept beside the event, because it brought another id. */
  repeat?: boolean;
  /** The id of the stored event, if it differs from the id of the delivery. */
  eventId?: string;
  /** The store cannot hold a value of this delivery. It is not stored; the rest of the batch is. */
  error?: Error;
}

/** An event before fan-out, with what routing needs. */
export interface PendingEvent {
  id: number;
  source: string;
  type: string;
  receivedAt: number;
  /** It was read from the API of its provider, and not delivered. */
  isCaptured?: true;
}

/** The payload of an event as it was received, with its `Content-Type` and its stored headers as JSON. */
export interface EventPayload {
  payload: Uint8Array;
  contentType: string;
  headers: string;
}

/** What is sent for a job instead of the payload of its event. */
export interface SentBody {
  payload: Uint8Array;
  contentType: string;
}

/** A stored event, and what its jobs have sent. */
export interface HistoryEvent extends EventPayload, Pick<EventSummary, "source" | "eventId" | "type" | "receivedAt"> {
  id: number;
  /** `body` is null if the payload was sent. */
  jobs: { route: string; attempts: number; body: SentBody | null }[];
}

/** Asks for the next events, oldest first, at most `limit`. */
export interface HistoryRequest {
  after: number;
  /** Received at or after, in Unix milliseconds. */
  since: number;
  /** Only this event. */
  name?: EventName | undefined;
  limit: number;
}

/** A stored event as it is read in order of arrival, without its content. */
export interface Arrival extends Pick<EventSummary, "source" | "eventId" | "type" | "receivedAt"> {
  id: number;
}

/** The events behind a number. `end` is the number to go on from. */
interface Arrivals {
  items: Arrival[];
  end: number;
}

/** A job that became a dead letter because the lease of its last attempt expired. */
export interface DeadLetteredJob {
  source: string;
  eventId: string;
  type: string;
  route: string;
  attempt: number;
  error: string;
}

/** A job that became a dead letter because the store is damaged where its event is. */
export interface UnreadableJob extends JobName {
  /** Null when the id cannot be read either. */
  eventId: string | null;
  error: string;
}

interface Claimed {
  claimed: ClaimedJob[];
  /** The number of jobs queued for a retry because their lease expired. */
  expired: number;
  /** Jobs whose lease expired during their last attempt. */
  deadLettered: DeadLetteredJob[];
  /** Jobs whose events cannot be read or do not match their checksum. */
  unreadable: UnreadableJob[];
  /**
   * When the next job is due or the next lease ends; after as many jobs as asked for, it may be the time of the claim.
   * Null when no other job is queued.
   */
  nextDueAt: number | null;
}

/** A stored event as a list shows it. */
export interface EventSummary {
  source: string;
  eventId: string;
  type: string;
  status: Status;
  attempts: number;
  /** The routes that have taken it. */
  routes: string[];
  receivedAt: number;
  processedAt: number | null;
  lastError: string | null;
}

/** Other bytes that came under the id of an event, and the number of their deliveries. */
export interface Conflict {
  /** Conflicts and repeats of an event are numbered together. */
  number: number;
  payloadSha256: string;
  deliveries: number;
  firstAt: number;
  lastAt: number;
  address: string;
  /** Null when earlier conflicts of the event reach the size limit of one answer. */
  payload: Uint8Array | null;
}

/** Another id under which the bytes of an event came, and the number of its deliveries. */
export interface Repeat {
  number: number;
  eventId: string;
  type: string;
  deliveries: number;
  firstAt: number;
  lastAt: number;
  address: string;
  headers: Record<string, string>;
  /** The id of the event that a replay has made of it. */
  replayedAs: string | null;
}

/** A job with its attempts. */
export interface JobDetail {
  route: string;
  status: JobStatus;
  /** In all, also before a replay. Without probes. */
  attempts: number;
  /** How often it was replayed. */
  replays: number;
  /** Attempts that only tried whether the target is available again, and cost nothing. */
  probes: number;
  /** The attempts that its policy counts: those since the job was made or last replayed. */
  attemptsOfBudget: number;
  /** Null if the job runs in any order. */
  orderingKey: string | null;
  /** When a queued job is due, or its lease ends. Null while it waits for earlier jobs of its ordering key. */
  dueAt: number | null;
  leased: boolean;
  /** Since when its route is paused. Null if it is not. A pause whose end is over may still be told. */
  pausedAt: number | null;
  /** When the pause ends by itself. Null: never. */
  pausedUntil: number | null;
  /** The event whose job of the same route and ordering key it waits for. */
  earlier: (EventName & { status: JobStatus }) | null;
  lastError: string | null;
  deadLetter: { failedAt: number; reason: string } | null;
  discarded: { discardedAt: number; reason: string } | null;
  history: AttemptRecord[];
}

/** A stored event with its jobs, conflicts and repeats. */
export interface EventDetail extends EventSummary {
  address: string;
  /** Where the secret that verified the signature is set, e.g. `env:NAME`. */
  secret: string;
  headers: Record<string, string>;
  contentType: string;
  /** Empty once it is erased, as are the headers, the address and the media type. */
  payload: Uint8Array;
  /** Null if it is not erased. */
  erased: Erasure | null;
  /** Empty before fan-out. */
  jobs: JobDetail[];
  conflicts: Conflict[];
  repeats: Repeat[];
}

/** Selects events that match every given member, at most `limit`. */
export interface EventFilter {
  status?: Status;
  /** With a `*` a list of types: see `typeList`. */
  type?: string;
  source?: string;
  eventId?: string;
  /** The event has a job of this route. `status` and `error` are then of that job, and so is the summary. */
  route?: string;
  /** Unix milliseconds: received at or after. */
  since?: number;
  /** Unix milliseconds: received before. */
  until?: number;
  /** A part of the last error of one of the jobs. Case is ignored. */
  error?: string;
  /**
   * A part of the id, the type, the payload, the headers or an answer of a target, byte by byte. Events with exactly
   * this id come first, whatever their time. One call searches for a limited time, also for a `route` and a type with
   * `*`: `older` is then set though the page is not full.
   */
  search?: string;
  /** Cursors of an earlier page: `before` is its `older`, `after` is its `newer`. */
  before?: string;
  after?: string;
  limit: number;
}

/** A part of a list of events, newest first. */
export interface EventPage {
  items: EventSummary[];
  /** The `before` cursor of the next page. Null on the last page. */
  older: string | null;
  /** The `after` cursor for events that are newer than this page. */
  newer: string;
}

/** Names an event. */
export interface EventName {
  eventId: string;
  source: string;
}

/** Selects jobs of one status that match every given member, for a replay or discard of many. */
export interface JobFilter extends Pick<EventFilter, "type" | "source" | "since" | "until" | "error"> {
  status: "failed" | "queued";
  route?: string;
}

/** Asks for the page after a cursor, with at most `limit` events. A replay or discard of many goes page by page. */
export interface PageRequest {
  cursor?: string | undefined;
  limit: number;
}

/** The number of events in a page. `next` is the cursor of the next page; null on the last page. */
export interface CountedPage {
  count: number;
  next: string | null;
}

/** A job that is queued or has failed, with its event. */
export interface OpenJob
  extends Pick<EventSummary, "source" | "eventId" | "type" | "receivedAt">,
    Omit<
      JobDetail,
      "replays" | "probes" | "attemptsOfBudget" | "pausedAt" | "pausedUntil" | "earlier" | "discarded" | "history"
    > {}

/** A part of a list of jobs. `next` is the cursor of the next page; null on the last page. */
export interface OpenJobPage {
  items: OpenJob[];
  next: string | null;
}

/** Asks for one page of a purge: at most `limit` events and `limit` ids. */
export interface PurgeRequest extends PageRequest {
  retention: Retention;
  now: number;
  /** Only counts. */
  isDryRun?: boolean;
}

/** What a page of a purge has removed. `bytes` are those of payloads and headers. */
export interface PurgedPage {
  events: number;
  ids: number;
  bytes: number;
  /**
   * How long the store has looked at what is kept, in milliseconds; 0 if it has removed something or returned space to
   * the disk. Without the time that the call waited for others.
   */
  fruitlessMs: number;
  /** The cursor of the next page; null on the last page. */
  next: string | null;
}

/** The number of events in each status, and of conflicting deliveries. */
export interface Backlog {
  queued: number;
  processed: number;
  failed: number;
  discarded: number;
  unrouted: number;
  conflicts: number;
  /** Dead letters whose events cannot be read. */
  unreadable: number;
  /** When the oldest queued event was received. Null when none is queued. */
  oldestQueuedAt: number | null;
  /** Known event ids. Those of removed events detect late duplicates. */
  ids: number;
  /** The size of the database, without space that is free for new events. */
  bytes: number;
}

/** The state of a route that has jobs or is paused, whether or not it is configured. */
export interface RouteRecord {
  route: string;
  /** The number of its jobs in each status. */
  queued: number;
  processed: number;
  failed: number;
  discarded: number;
  /** Unix milliseconds. Null if it is not paused. */
  pausedAt: number | null;
  /** When the pause ends by itself. Null: never. */
  pausedUntil: number | null;
}

/** A route whose target is unavailable. Times are Unix milliseconds. */
export interface UnavailableRoute {
  route: string;
  since: number;
  /** When the next probe may begin. Null while one is running. */
  probeAt: number | null;
}

/** Asks for up to `limit` jobs of a route, leased for `leaseMs` from `now`. */
export interface ClaimRequest {
  route: string;
  owner: string;
  limit: number;
  leaseMs: number;
  /** Waits before the retry of a job whose lease expired, by attempt. With n waits a job has n + 1 attempts. */
  retryDelaysMs: readonly number[];
  /** Whether a dead letter keeps the later jobs of its ordering key waiting. */
  blocks?: boolean;
  now: number;
  /**
   * Events whose jobs of this route the owner is working on. Their leases are renewed even if they have expired: the
   * clock may have been set forward, or the process may have been suspended.
   */
  inProgress?: readonly number[];
}

/** What there is to do: new events without jobs, or jobs that may be due. */
export type Work = "events" | "jobs";

/**
 * Keeps events before and after processing. Each method is one transaction. A store that cannot answer throws
 * `store_unavailable` and has changed nothing.
 */
export interface EventStore {
  /** Stores new events durably: they are on disk when it resolves. The results are in the order of the batch. */
  append(batch: NewEvent[]): Promise<Appended[]>;
  /** The oldest events before fan-out, in order of arrival. */
  pending(limit: number): Promise<PendingEvent[]>;
  /**
   * The payloads of the first of these events, as many as fit into one answer; at least one. Null for an unreadable
   * one.
   */
  payloads(events: number[]): Promise<(EventPayload | null)[]>;
  /**
   * Adds the jobs of pending events: of the oldest ones, in order, as `pending` returned them. Those that are already
   * routed are left out. A job with an ordering key waits until the earlier jobs of its route and key have ended.
   */
  addJobs(events: number[], jobs: NewJob[]): Promise<void>;
  /**
   * Leases due jobs of a route, oldest due first, and counts the attempt. A paused route has none. An expired lease is
   * a failed attempt: the job is queued for a retry, or dead-lettered after the last one. A job whose event cannot be
   * read is dead-lettered.
   */
  claim(request: ClaimRequest): Promise<Claimed>;
  /** Extends leases, with results in their order: false for one that is lost. */
  renew(claims: Claim[], leaseMs: number, now: number): Promise<boolean[]>;
  /** Ends attempts, with results in the order of the batch. False means that the claim was lost and nothing changed. */
  settle(batch: Settlement[]): Promise<boolean[]>;
  /** Gives back claims before their work begins. The jobs are due, before later ones, and the attempts do not count. */
  release(claims: Claim[], now: number): Promise<void>;
  /**
   * The next events whose content is stored, as many as fit into one answer; at least one. None at the end. Those that
   * cannot be read are left out.
   */
  history(request: HistoryRequest): Promise<HistoryEvent[]>;
  /**
   * The events behind a number in the order of their numbers, at most `limit`, without removed and erased ones.
   * No event will ever appear up to `end` that is not in this answer or in those before it. With nothing new, `end` is
   * that number; it is smaller if the store has lost events, for example because an older copy was restored.
   */
  arrivals(after: number, limit: number): Promise<Arrivals>;
  /** The number to read arrivals from: before the first event received since a time, or behind all if it is null. */
  arrivalsSince(since: number | null): Promise<number>;
  /** The body that is kept for a job; null if there is none. */
  sentBody(job: JobName): Promise<SentBody | null>;
  /** Keeps the body of a job, unless one is kept already. Returns the one that is kept. */
  keepSentBody(job: JobName, body: SentBody): Promise<SentBody>;
  /** Forgets the bodies of the ended jobs of an event. */
  forgetSentBodies(event: EventName): Promise<void>;
  /**
   * Queues the failed jobs of an event again, due now, with a fresh budget. Their history is kept, and so are their
   * bodies unless `forgetsBodies`. Returns their number.
   */
  replay(event: EventName, now: number, forgetsBodies?: boolean): Promise<number>;
  /** Queues failed jobs like `replay`, page by page. A job that fails again meanwhile is not replayed twice. */
  replayAll(filter: JobFilter, now: number, page: PageRequest, forgetsBodies?: boolean): Promise<CountedPage>;
  /**
   * Stores a conflict of an event, numbered from 1, oldest first, as an event of its own. Returns false if it is one
   * already.
   */
  replayConflict(event: EventName, conflict: number, now: number): Promise<boolean>;
  /**
   * Stores a repeat of an event as an event of its own, under the repeat's id, with a number behind it if that is
   * taken. Returns the id of the new event; null if the repeat is not kept or is an event already.
   */
  replayRepeat(event: EventName, repeat: string, now: number): Promise<string | null>;
  /**
   * Gives an event to the present routes anew. Returns false if it is removed or unknown, waits for its fan-out or for
   * this already, or has queued jobs only.
   */
  reroute(event: EventName): Promise<boolean>;
  /** The first events that `reroute` was called for. */
  rerouted(limit: number): Promise<PendingEvent[]>;
  /** Adds or replays the jobs of rerouted events, unless they are queued. */
  addRerouted(events: number[], jobs: NewJob[], now: number): Promise<void>;
  /** The routes that have jobs or are paused now, by name. */
  routes(now: number): Promise<RouteRecord[]>;
  /**
   * Pauses a route: none of its jobs is claimed before `until`, or without it before the route is resumed. The end of a
   * pause that lasts is changed. Returns false if it is paused so already.
   */
  pauseRoute(route: string, now: number, until?: number): Promise<boolean>;
  /** Returns false if the route is not paused now. */
  resumeRoute(route: string, now: number): Promise<boolean>;
  /** Notes the routes whose targets a worker finds unavailable, in place of those that it noted before. */
  noteUnavailable(owner: string, routes: readonly UnavailableRoute[], now: number): Promise<void>;
  /** The routes that a worker has noted as unavailable lately, by name. */
  unavailableRoutes(now: number): Promise<UnavailableRoute[]>;
  /**
   * Asks every worker for a probe of a route now, and makes a job due for it. Returns false if its target is not noted
   * as unavailable.
   */
  tryRoute(route: string, now: number): Promise<boolean>;
  /** The probes that a worker is asked for, with the time of the question. */
  askedProbes(owner: string): Promise<{ route: string; askedAt: number }[]>;
  /** Counts comparisons of shadows, and keeps the newest differences of each shadow. */
  addComparisons(batch: Comparison[]): Promise<void>;
  /** How many comparisons a shadow has had. */
  comparisons(shadow: string): Promise<ComparisonCounts>;
  /** The differences of a shadow that are kept, newest event first. */
  differences(shadow: string): Promise<KeptDifference[]>;
  /** Forgets the comparisons of a shadow. Returns false if it has none. */
  resetComparisons(shadow: string): Promise<boolean>;
  /** Ends the waiting for dead letters: the next job of each ordering key that they block is due. */
  unblockRoute(route: string, now: number): Promise<void>;
  /**
   * Discards the jobs of an event that failed or wait, with the reason. Running attempts go on. The next jobs of their
   * ordering keys are due. Returns the number of jobs.
   */
  discard(event: EventName, reason: string, now: number): Promise<number>;
  /** Discards jobs like `discard`, page by page. */
  discardAll(filter: JobFilter, reason: string, now: number, page: PageRequest): Promise<CountedPage>;
  /**
   * Erases what an event consists of: payload, headers, conflicts, repeats, sent bodies, and what its attempts
   * recorded. The identity stays, so that a late delivery is a duplicate. Jobs that wait or failed are discarded; a
   * running attempt goes on, and nothing that it records afterwards is kept. Returns null if it is removed, erased or
   * unknown.
   */
  erase(event: EventName, how: { reason: string; now: number; isDryRun?: boolean }): Promise<ErasedEvent | null>;
  /** Removes what is erased from the files of the store, as far as that is possible now. Returns what remains. */
  sweep(): Promise<Remains | null>;
  /** The number of events that `replayAll` or `discardAll` would take, page by page. */
  count(filter: JobFilter, page: PageRequest): Promise<CountedPage>;
  /** The queued or failed jobs that match, in the order of arrival of their events, page by page. */
  jobs(filter: JobFilter, page: PageRequest): Promise<OpenJobPage>;
  /**
   * Removes what retention no longer keeps, page by page: first contents of events with their jobs, then ids, then free
   * space of the file. Ids are never used again.
   */
  purge(request: PurgeRequest): Promise<PurgedPage>;
  /**
   * Keeps what a server knows of its clock. Events that came while it was behind count for retention as received when
   * it was set right. Returns the number of the newest event.
   */
  noteClock(note: ClockNote): Promise<number>;
  /** Lists events, newest arrival first. */
  list(filter: EventFilter): Promise<EventPage>;
  /** The events with this id, one for each source that has it. */
  get(eventId: string, source?: string): Promise<EventDetail[]>;
  /** The events whose id begins so, in the order of their ids. */
  startingWith(prefix: string, source: string | undefined, limit: number): Promise<EventName[]>;
  /** Takes the same time with millions of events as with none. */
  backlog(): Promise<Backlog>;
  /** The counts of deliveries and attempts. Takes the same time with millions of events as with none. */
  stats(request: StatRequest): Promise<Stats>;
  /** The attempts of each route by the minute, from the minute of a time on (Unix milliseconds). */
  attemptsSince(since: number): Promise<RouteAttempts[]>;
  /**
   * Calls the listener after an append, a replay, a discard, or a resumed or tried route through this store. Work of
   * other processes is found by polling.
   */
  onWork(listener: (work: Work) => void): void;
  /** Throws `store_unavailable` when the store does not answer, or when dead letters have unreadable events. */
  check(): Promise<void>;
  close(): Promise<void>;
}
