import { afterAttempt, afterExpiredLease, LEASE_EXPIRED } from "../events/attempt-end.ts";
import { discardReason, ERASED } from "../events/erasure.ts";
import type { JobStatus } from "../events/event.ts";
import { type AttemptOutcome, type Claim, type ClaimedJob, MAX_WAIT_MS, type Settlement } from "../events/job.ts";
import { MAX_PAYLOAD_BYTES } from "../events/limits.ts";
import { OUTCOME_OF } from "../events/stats.ts";
import type { ClaimRequest, DeadLetteredJob, EventStore, UnreadableJob } from "../events/store.ts";
import { type PayloadCodec, ROW } from "../storage/payload-codec.ts";
import type { SyncPort } from "./async-store.ts";
import { atomic, type Database } from "./database.ts";
import { FORGET_ORDERING_KEY } from "./event-erasure.ts";
import { type EventTally, eventTally, type TallyMoves } from "./event-tally.ts";
import { discardRecord, jobDiscard } from "./job-changes.ts";
import { promotion } from "./ordering.ts";
import { eventReader } from "./stored-event.ts";

type EventName = Pick<DeadLetteredJob, "source" | "eventId" | "type">;

interface DueRow {
  event: number;
  attempts: number;
  probes: number;
  attemptsBeforeReplay: number;
  isReplay: number;
  leaseOwner: string | null;
  claimedAt: number | null;
  erasedFor: string | null;
}

/** Why the event of a job was erased; null if it was not. */
const ERASED_FOR = "(SELECT reason FROM erasures WHERE erasures.event = jobs.event) AS erasedFor";

/** True until a claim is lost: event, route, owner, attempt. */
const IS_CLAIMED = "event = ? AND route = ? AND status = 'queued' AND lease_owner = ? AND attempts = ?";

const RENEW = `UPDATE jobs SET due_at = ? WHERE ${IS_CLAIMED}`;

/** Adds a dead letter: event, route, time, reason, whether it is unreadable. */
export const ADD_DEAD_LETTER =
  "INSERT INTO dead_letters (event, route, failed_at, reason, unreadable) VALUES (?, ?, ?, ?, ?)";

/** Claims of jobs: lease, renew, settle and release, each in one transaction. */
export interface EventClaims extends SyncPort<Pick<EventStore, "claim" | "renew" | "settle" | "release">> {
  /** Ends all leases, whose workers must be dead, and waits longer than any policy allows. Returns how many. */
  releaseAll(now: number): number;
}

/** Prepares the claims of a database. `reader` is the connection that reads the events. */
export function eventClaims(database: Database, reader: Database, codec: PayloadCodec): EventClaims {
  const pauseOf = database.prepare<[string, number], { until: number | null }>(
    "SELECT until_at AS until FROM paused_routes WHERE route = ? AND (until_at IS NULL OR until_at > ?)",
  );
  // Or when its lease ends.
  const nextDue = database.prepare("SELECT min(due_at) FROM jobs WHERE route = +? AND due_at IS NOT NULL").pluck();
  const renew = database.prepare(RENEW);
  const release = database.prepare(`
    UPDATE jobs SET attempts = attempts - 1, due_at = (SELECT min(received_at, ?) FROM events WHERE id = event),
      lease_owner = NULL, claimed_at = NULL
    WHERE ${IS_CLAIMED}`);
  // Makes jobs due that are leased, or that wait longer than any retry does because the clock was wrong. They keep
  // their place before later events.
  const releaseAll = database.prepare(`
    UPDATE jobs SET due_at = (SELECT min(received_at, @now) FROM events WHERE id = event)
    WHERE status = 'queued' AND due_at > @now AND (lease_owner IS NOT NULL OR due_at > @now + @longestWaitMs)`);
  const tally = eventTally(database, reader);
  const readNextDue = (route: string) => nextDue.get(route) as number | null;

  /** When the next job of a route is due, or its lease ends, and no pause keeps it waiting. */
  function nextClaimAt(route: string, now: number): number | null {
    const pause = pauseOf.get(route, now);
    if (pause?.until === null) return null;
    const dueAt = readNextDue(route);
    return dueAt === null ? null : Math.max(dueAt, pause?.until ?? dueAt);
  }

  const end = prepareEndAttempt(database, tally, codec);
  const takeDue = atomic(database, prepareLeasing(database, eventReader(reader, codec), tally, end));
  const settleAll = atomic(database, (batch: Settlement[]) =>
    tally.count((moves) =>
      batch.map((settlement) => end(settlement, settlement.error === null ? "succeeded" : "failed", moves)),
    ),
  );
  const releaseEach = atomic(database, (claims: Claim[], now: number) => {
    for (const { event, route, owner, attempt } of claims) release.run(now, event, route, owner, attempt);
  });

  return {
    claim(request) {
      // An idle poll must not write.
      const nextDueAt = nextClaimAt(request.route, request.now);
      if (nextDueAt === null || nextDueAt > request.now) {
        return { claimed: [], expired: 0, deadLettered: [], unreadable: [], nextDueAt };
      }
      return { ...takeDue(request), nextDueAt: readNextDue(request.route) };
    },
    renew: (claims, leaseMs, now) =>
      claims.map(
        ({ event, route, owner, attempt }) => renew.run(now + leaseMs, event, route, owner, attempt).changes === 1,
      ),
    settle: settleAll,
    release: releaseEach,
    releaseAll(now) {
      return releaseAll.run({ now, longestWaitMs: MAX_WAIT_MS }).changes;
    },
  };
}

type Unreadable = Extract<ReturnType<ReturnType<typeof eventReader>>, { event: null }>;

/** Leases due jobs. Jobs with expired leases are queued again or dead-lettered. Unreadable events are set aside. */
function prepareLeasing(
  database: Database,
  readEvent: ReturnType<typeof eventReader>,
  tally: EventTally,
  endAttempt: EndAttempt,
) {
  // Due jobs and expired leases.
  const due = database.prepare<unknown[], DueRow>(`
    SELECT event, attempts, probes, attempts_before_replay AS attemptsBeforeReplay, is_replay AS isReplay,
      lease_owner AS leaseOwner, claimed_at AS claimedAt, ${ERASED_FOR}
    FROM jobs WHERE route = +? AND due_at <= +? ORDER BY due_at LIMIT +?`);
  // The attempt is counted here: a handler that kills the process must still use one up.
  const lease = database.prepare(`
    UPDATE jobs SET attempts = attempts + 1, lease_owner = ?, claimed_at = ?, due_at = ?
    WHERE event = ? AND route = ? AND status = 'queued'`);
  const renew = database.prepare(RENEW);
  // Ends a job whose event cannot be read, leased or not.
  const setAside = database.prepare(`
    UPDATE jobs SET status = 'failed', due_at = NULL, lease_owner = NULL, claimed_at = NULL, ended_at = ?,
      last_error = ?, in_line = in_line AND ?
    WHERE event = ? AND route = ? AND status = 'queued'`);
  const jobOf = prepareJob(database);
  const promote = promotion(database);
  const addDeadLetter = database.prepare(ADD_DEAD_LETTER);
  const discard = jobDiscard(database);
  const forgetOrderingKey = database.prepare(FORGET_ORDERING_KEY);

  return (request: ClaimRequest) => {
    const { route, owner, limit, leaseMs, blocks = false, now, inProgress = [] } = request;
    const leaseEndsAt = now + leaseMs;
    const claimed: ClaimedJob[] = [];
    const deadLettered: DeadLetteredJob[] = [];
    const unreadable: UnreadableJob[] = [];
    let expired = 0;
    let bytes = 0;

    function expire(row: DueRow, leaseOwner: string, name: EventName, moves: TallyMoves): void {
      const { event, attempts: attempt, claimedAt } = row;
      const next = afterExpiredLease(attempt - row.attemptsBeforeReplay, request);
      const end = { startedAt: claimedAt ?? now, finishedAt: now, error: LEASE_EXPIRED };
      endAttempt({ event, route, owner: leaseOwner, attempt, next, ...end }, "lease_expired", moves);
      if (next.to === "queued") expired++;
      else deadLettered.push({ ...name, route, attempt, error: LEASE_EXPIRED });
    }

    function setAsideJob(event: number, { eventId, fault, isDamaged }: Unreadable, moves: TallyMoves): void {
      setAside.run(now, fault, blocks ? 1 : 0, event, route);
      addDeadLetter.run(event, route, now, fault, Number(isDamaged));
      promote(route, jobOf(event, route)?.orderingKey ?? null, now);
      moves.job(route, "queued", "failed");
      moves.event(event, "queued", tally.statusOf(event));
      unreadable.push({ event, eventId, route, error: fault });
    }

    /** A job that was made or released after the erasure of its event. */
    function discardErased(event: number, erasedFor: string, moves: TallyMoves): void {
      const orderingKey = jobOf(event, route)?.orderingKey ?? null;
      discard(event, { route, status: "queued", orderingKey }, { reason: discardReason(erasedFor), now }, moves);
      forgetOrderingKey.run(event, route);
      moves.event(event, "queued", tally.statusOf(event));
    }

    /** False when no more payloads fit. */
    function take(row: DueRow, moves: TallyMoves): boolean {
      const { event, attempts, probes, leaseOwner, erasedFor } = row;
      if (leaseOwner === owner && inProgress.includes(event)) {
        renew.run(leaseEndsAt, event, route, owner, attempts);
        return true;
      }
      const reading = readEvent(event);
      if (reading.event === null) {
        setAsideJob(event, reading, moves);
        return true;
      }
      const { source, eventId, type, payload, headers } = reading.event;
      if (leaseOwner !== null) {
        expire(row, leaseOwner, { source, eventId, type }, moves);
        return true;
      }
      if (erasedFor !== null) {
        discardErased(event, erasedFor, moves);
        return true;
      }
      bytes += payload.length + Buffer.byteLength(headers);
      // The first one is claimed whatever its size.
      if (claimed.length > 0 && bytes > MAX_PAYLOAD_BYTES) return false;
      lease.run(owner, now, leaseEndsAt, event, route);
      const attemptOfBudget = attempts + 1 - row.attemptsBeforeReplay;
      const isReplay = row.isReplay === 1;
      const attempt = attempts + 1;
      const countedAttempt = attempt - probes;
      claimed.push({ event, route, ...reading.event, isReplay, attempt, countedAttempt, attemptOfBudget });
      return true;
    }

    const rows = due.all(route, now, limit);
    tally.count((moves) => rows.every((row) => take(row, moves)));
    return { claimed, expired, deadLettered, unreadable };
  };
}

/** Ends one attempt and records it. Returns false, and changes nothing, when its claim is lost. */
type EndAttempt = (settlement: Settlement, outcome: AttemptOutcome, moves: TallyMoves) => boolean;

function prepareEndAttempt(database: Database, tally: EventTally, codec: PayloadCodec): EndAttempt {
  const settle = database.prepare(`
    UPDATE jobs SET status = ?, due_at = ?, lease_owner = NULL, claimed_at = NULL, ended_at = ?, last_error = ?,
      attempts_before_replay = attempts_before_replay + ?, probes = probes + ?, in_line = in_line AND ?
    WHERE ${IS_CLAIMED}`);
  const jobOf = prepareJob(database);
  const promote = promotion(database);
  const addAttempt = database.prepare(`
    INSERT INTO attempts (event, route, attempt, started_at, finished_at, outcome, error, response, is_probe,
      response_status, replay, attempt_of_budget)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const addDeadLetter = database.prepare(ADD_DEAD_LETTER);
  const addDiscard = discardRecord(database);
  const forgetOrderingKey = database.prepare(FORGET_ORDERING_KEY);

  function addReason(status: JobStatus, settlement: Settlement, erasedFor: string | null): void {
    const { event, route, next, finishedAt: now } = settlement;
    if (erasedFor !== null && status === "discarded")
      addDiscard({ event, route, reason: discardReason(erasedFor), now });
    else if (next.to === "failed") addDeadLetter.run(event, route, now, next.reason, 0);
  }

  return (settlement, outcome, moves) => {
    const { event, route, owner, attempt, next, startedAt, finishedAt } = settlement;
    const job = jobOf(event, route);
    if (!job) return false;
    const { orderingKey, isReplay, erasedFor } = job;
    const isErased = erasedFor !== null;
    const error = isErased && settlement.error !== null ? ERASED : settlement.error;
    const response = isErased ? null : (settlement.response ?? null);
    const { status, dueAt, isFree, isProbe, staysInLine } = afterAttempt(next, isErased);
    const change = [status, dueAt, finishedAt, error, ...[isFree, isProbe, staysInLine].map(Number)];
    if (settle.run(...change, event, route, owner, attempt).changes === 0) return false;
    const stored = response === null ? null : codec.sealText(ROW.response(event, route, attempt), response);
    const ended = [startedAt, finishedAt, outcome, error, stored, Number(isProbe), settlement.responseStatus ?? null];
    addAttempt.run(event, route, attempt, ...ended, job.replays, attempt - job.attemptsBeforeReplay);
    moves.attempt(event, { route, outcome: OUTCOME_OF[next.to], at: finishedAt, isReplay: isReplay === 1 });
    addReason(status, settlement, erasedFor);
    if (status === "queued") return true;
    promote(route, orderingKey, finishedAt);
    if (isErased) forgetOrderingKey.run(event, route);
    moves.job(route, "queued", status);
    moves.event(event, "queued", tally.statusOf(event));
    return true;
  };
}

interface Job {
  orderingKey: string | null;
  attemptsBeforeReplay: number;
  isReplay: number;
  replays: number;
  erasedFor: string | null;
}

function prepareJob(database: Database): (event: number, route: string) => Job | undefined {
  // A `RETURNING` in the statement that changes the job would build a temporary table.
  const find = database.prepare<unknown[], Job>(`
    SELECT ordering_key AS orderingKey, attempts_before_replay AS attemptsBeforeReplay, is_replay AS isReplay, replays,
      ${ERASED_FOR}
    FROM jobs WHERE event = ? AND route = ?`);
  return (event, route) => find.get(event, route);
}
