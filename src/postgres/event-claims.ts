import { describeError } from "../errors.ts";
import { afterAttempt, afterExpiredLease, LEASE_EXPIRED } from "../events/attempt-end.ts";
import { discardReason, ERASED } from "../events/erasure.ts";
import type { Claim, ClaimedJob, Next, Settlement } from "../events/job.ts";
import { MAX_PAYLOAD_BYTES } from "../events/limits.ts";
import type { ClaimRequest, DeadLetteredJob, EventStore } from "../events/store.ts";
import { keyIdIn, missingKey, orNull, type PayloadCodec, ROW, UnsealableError } from "../storage/payload-codec.ts";
import type { Postgres } from "./connection.ts";
import { readErasures } from "./erasures.ts";
import { discard } from "./event-replay.ts";
import type { EventTally } from "./event-tally.ts";
import { type Changes, changeJobs } from "./job-changes.ts";
import type { AttemptRow, JobRow } from "./job-rows.ts";
import { columnsOf, integers, texts } from "./values.ts";

/**
 * Leases due jobs of a route: route, now, limit, owner, end of the lease, most bytes of payloads and headers. The first
 * one is leased whatever its size. Due jobs with a lease are returned without a payload: their leases have expired.
 * Jobs that another transaction has locked are skipped. The attempt is counted here: a handler that kills the process
 * must still use one up.
 */
const CLAIM = `
WITH due AS MATERIALIZED (
  SELECT event, due_at, lease_owner FROM authserve.jobs
  WHERE route = $1 AND due_at <= $2 AND NOT EXISTS (
    SELECT 1 FROM authserve.paused_routes WHERE route = $1 AND (until_at IS NULL OR until_at > $2::bigint))
  ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED),
free AS (
  SELECT event, due_at, source, event_id, type, received_at, row_number() OVER in_order AS nth, sum(size) OVER in_order AS bytes
  FROM due JOIN authserve.events ON id = event WHERE lease_owner IS NULL WINDOW in_order AS (ORDER BY due_at, event)),
leased AS (
  UPDATE authserve.jobs AS job SET attempts = attempts + 1, lease_owner = $4, claimed_at = $2, due_at = $5
  FROM free WHERE job.event = free.event AND job.route = $1 AND (nth = 1 OR bytes <= $6)
  RETURNING free.*, attempts, attempts - probes AS counted_attempt, attempts - attempts_before_replay AS attempt_of_budget, is_replay)
SELECT leased.event, due_at, false AS "isExpired", attempts AS attempt, counted_attempt AS "countedAttempt", attempt_of_budget AS "attemptOfBudget",
  is_replay AS "isReplay", source, event_id AS "eventId", type, content_type AS "contentType", received_at AS "receivedAt",
  headers, payload, EXISTS (SELECT 1 FROM authserve.erasures WHERE erasures.event = leased.event) AS "isErased"
FROM leased JOIN authserve.contents ON contents.event = leased.event
UNION ALL
SELECT due.event, due_at, true, NULL, NULL, NULL, NULL, source, event_id, type, NULL, received_at, NULL, NULL, false
FROM due JOIN authserve.events ON id = due.event WHERE lease_owner IS NOT NULL
ORDER BY due_at, event`;

/** When the next queued job of a route is due, or its lease ends, and no pause keeps it waiting: route, now. */
const NEXT_DUE = `
SELECT greatest(min(due_at), (SELECT until_at FROM authserve.paused_routes WHERE route = $1 AND until_at > $2)) AS "dueAt"
FROM authserve.jobs
WHERE route = $1 AND due_at IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM authserve.paused_routes WHERE route = $1 AND until_at IS NULL)
HAVING count(*) > 0`;

// A statement that the client has given up may still run later, when a server of PostgreSQL that hung goes on. So each
// of these compares what it changes: a late one must not undo a newer claim of the same owner, nor shorten its lease.

/** Extends a lease that is not lost: end of the lease, event, route, owner, attempt. */
const RENEW = `
UPDATE authserve.jobs AS job SET due_at = greatest(due_at, $1)
FROM unnest($2::bigint[], $3::text[], $4::text[], $5::bigint[]) WITH ORDINALITY
  AS claim (event, route, owner, attempt, number)
WHERE job.event = claim.event AND job.route = claim.route AND status = 'queued' AND lease_owner = claim.owner
  AND attempts = claim.attempt
RETURNING claim.number`;

/** Undoes claims that are not lost: now, then events, routes, owners, attempts. */
const RELEASE = `
UPDATE authserve.jobs AS job SET attempts = attempts - 1, lease_owner = NULL, claimed_at = NULL,
  due_at = least((SELECT received_at FROM authserve.events WHERE id = job.event), $1)
FROM unnest($2::bigint[], $3::text[], $4::text[], $5::bigint[]) AS claim (event, route, owner, attempt)
WHERE job.event = claim.event AND job.route = claim.route AND status = 'queued' AND lease_owner = claim.owner
  AND attempts = claim.attempt AND claimed_at <= $1`;

/**
 * Undoes the claims of an owner on a route until a time, except on some events: route, owner, events, now, the time.
 */
const RELEASE_LOST = `
UPDATE authserve.jobs AS job SET attempts = attempts - 1, lease_owner = NULL, claimed_at = NULL,
  due_at = least((SELECT received_at FROM authserve.events WHERE id = job.event), $4)
WHERE route = $1 AND due_at IS NOT NULL AND lease_owner = $2 AND event <> ALL($3::bigint[]) AND claimed_at <= $5`;

/** Recorded attempts with these starts and ends: events, routes, attempts, starts, ends. */
const RECORDED = `
SELECT event, route, attempt FROM authserve.attempts
  JOIN unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[])
    AS told (event, route, attempt, started_at, finished_at) USING (event, route, attempt, started_at, finished_at)`;

interface ClaimedRow extends Omit<ClaimedJob, "route"> {
  due_at: number;
  isExpired: boolean;
  isErased: boolean;
}

const CLAIM_COLUMNS = { event: integers, route: texts, owner: texts, attempt: integers };

type ClaimsPort = Pick<EventStore, "claim" | "renew" | "settle" | "release">;

/** Claims of jobs: lease, renew, settle and release. */
export function eventClaims(postgres: Postgres, tally: EventTally, codec: PayloadCodec): ClaimsPort {
  async function nextDueAt(route: string, now: number): Promise<number | null> {
    const [next] = await postgres.rows<{ dueAt: number | null }>(NEXT_DUE, [route, now]);
    return next?.dueAt ?? null;
  }

  const settle = settling(postgres, tally, codec);
  /** Routes with a claim that failed, and when it was made. Its jobs may be leased, and nobody runs them. */
  const lost = new Map<string, number>();

  async function releaseLost({ route, owner, now, inProgress = [] }: ClaimRequest): Promise<void> {
    const lostAt = lost.get(route);
    if (lostAt === undefined) return;
    await postgres.run(RELEASE_LOST, [route, owner, integers(inProgress), now, lostAt]);
    lost.delete(route);
  }

  async function claim(request: ClaimRequest) {
    const { route, owner, limit, leaseMs, now } = request;
    const values = [route, now, limit, owner, now + leaseMs, MAX_PAYLOAD_BYTES];
    const rows = await postgres.rows<ClaimedRow>(CLAIM, values);
    const expired = rows.filter(({ isExpired }) => isExpired);
    const leased = rows
      .filter(({ isExpired, isErased }) => !isExpired && !isErased)
      .map(({ isExpired: _, isErased: __, due_at: ___, ...row }) => ({ ...row, route }));
    await discardErased(
      postgres,
      tally,
      request,
      rows.filter(({ isErased }) => isErased),
    );
    const { claimed, unreadable } = openClaimed(codec, leased);
    if (unreadable.length > 0) await settle(unreadable.map(({ job, fault }) => setAside(job, fault, request)));
    const { retried, deadLettered } = await endExpired(postgres, tally, request, expired);
    return {
      claimed,
      expired: retried,
      deadLettered,
      unreadable: unreadable.map(({ job, fault: error }) => ({ event: job.event, route, eventId: job.eventId, error })),
      // Behind a full claim more jobs may be due now.
      nextDueAt: rows.length === limit ? now : await nextDueAt(route, now),
    };
  }

  return {
    async claim(request) {
      await releaseLost(request);
      try {
        return await claim(request);
      } catch (error) {
        lost.set(request.route, request.now);
        throw error;
      }
    },
    async renew(claims, leaseMs, now) {
      const rows = await postgres.rows<{ number: number }>(RENEW, [now + leaseMs, ...columnsOf(claims, CLAIM_COLUMNS)]);
      const renewed = new Set(rows.map(({ number }) => number));
      return claims.map((_, index) => renewed.has(index + 1));
    },
    settle,
    async release(claims, now) {
      await postgres.run(RELEASE, [now, ...columnsOf(claims, CLAIM_COLUMNS)]);
    },
  };
}

/** Discards claimed jobs that were made or released after the erasure of their events. */
async function discardErased(
  postgres: Postgres,
  tally: EventTally,
  { route, owner, now }: ClaimRequest,
  rows: readonly ClaimedRow[],
): Promise<void> {
  if (rows.length === 0) return;
  const events = rows.map(({ event }) => event);
  await changeJobs(postgres, tally, { events, now }, async (changes, queries) => {
    const erasures = await readErasures(queries, events);
    for (const { event, attempt } of rows) {
      const [job, erasure] = [changes.job(event, route), erasures.get(event)];
      if (!erasure || job?.status !== "queued" || job.leaseOwner !== owner || job.attempts !== attempt) continue;
      discard(changes, job, discardReason(erasure.reason), now);
      changes.change(job, { attempts: attempt - 1, leaseOwner: null, claimedAt: null, orderingKey: null });
    }
  });
}

/** A leased job whose event cannot be read, and why. */
interface UnreadableClaim {
  job: ClaimedJob;
  fault: string;
}

/** Decrypts the events of leased jobs. */
function openClaimed(codec: PayloadCodec, leased: readonly ClaimedJob[]) {
  const claimed: ClaimedJob[] = [];
  const unreadable: UnreadableClaim[] = [];
  for (const job of leased) {
    const content = { text: job.headers, bytes: job.payload };
    try {
      const opened = orNull(() => codec.open(ROW.contents(job.source, job.eventId), content));
      if (opened) claimed.push({ ...job, headers: opened.text, payload: opened.bytes });
      else unreadable.push({ job, fault: `the event ${missingKey(keyIdIn(job.headers) ?? "")}` });
    } catch (error) {
      if (!(error instanceof UnsealableError)) throw error;
      unreadable.push({ job, fault: `the database is damaged: ${describeError(error)}` });
    }
  }
  return { claimed, unreadable };
}

/** Makes a dead letter of a leased job whose event cannot be read. */
function setAside({ event, route, attempt }: ClaimedJob, fault: string, request: ClaimRequest): Settlement {
  const { owner, now, blocks = false } = request;
  const next = { to: "failed", reason: fault, blocks } as const;
  return { event, route, owner, attempt, next, startedAt: now, finishedAt: now, error: fault };
}

/** Renews expired leases of jobs that their owner still works on, and ends the attempts of all others. */
async function endExpired(
  postgres: Postgres,
  tally: EventTally,
  request: ClaimRequest,
  rows: readonly ClaimedRow[],
): Promise<{ retried: number; deadLettered: DeadLetteredJob[] }> {
  const { route, owner, leaseMs, now, inProgress = [] } = request;
  if (rows.length === 0) return { retried: 0, deadLettered: [] };
  const events = rows.map(({ event }) => event);
  return changeJobs(postgres, tally, { events, now }, (changes) => {
    const deadLettered: DeadLetteredJob[] = [];
    let retried = 0;
    for (const { event, source, eventId, type } of rows) {
      const job = changes.job(event, route);
      // Another transaction may have ended the attempt meanwhile.
      if (!job || job.leaseOwner === null || job.dueAt === null || job.dueAt > now) continue;
      if (job.leaseOwner === owner && inProgress.includes(event)) {
        changes.change(job, { dueAt: now + leaseMs });
      } else if (expire(changes, job, request)) retried++;
      else deadLettered.push({ source, eventId, type, route, attempt: job.attempts, error: LEASE_EXPIRED });
    }
    return { retried, deadLettered };
  });
}

/** Ends an attempt whose lease has expired. Returns whether its job is queued for a retry. */
function expire(changes: Changes, job: JobRow, request: ClaimRequest): boolean {
  const { now } = request;
  const next = afterExpiredLease(job.attempts - job.attemptsBeforeReplay, request);
  const ended = {
    startedAt: job.claimedAt ?? now,
    finishedAt: now,
    error: LEASE_EXPIRED,
    response: null,
    responseStatus: null,
  };
  end(changes, job, next, { ...ended, outcome: "lease_expired" });
  return next.to === "queued";
}

/** Ends attempts whose claims are not lost. */
function settling(postgres: Postgres, tally: EventTally, codec: PayloadCodec): EventStore["settle"] {
  /** Attempts whose settlement got no answer. It may have been committed. */
  const unanswered = new Set<string>();

  return async (batch) => {
    const events = batch.map(({ event }) => event);
    const now = Math.max(...batch.map(({ finishedAt }) => finishedAt));
    const told = batch.filter((claim) => unanswered.has(nameOf(claim)));
    try {
      const recorded = told.length === 0 ? new Set() : await readRecorded(postgres, told);
      const settled = await changeJobs(postgres, tally, { events, now }, (changes) =>
        batch.map((settlement) => settleOne(changes, codec, settlement) || recorded.has(nameOf(settlement))),
      );
      for (const claim of batch) unanswered.delete(nameOf(claim));
      return settled;
    } catch (error) {
      for (const claim of batch) unanswered.add(nameOf(claim));
      throw error;
    }
  };
}

/** Returns false, and changes nothing, when the claim is lost. */
function settleOne(changes: Changes, codec: PayloadCodec, settlement: Settlement): boolean {
  const { event, route, owner, attempt, next, startedAt, finishedAt, error } = settlement;
  const { response: text = null, responseStatus = null } = settlement;
  const job = changes.job(event, route);
  if (job?.status !== "queued" || job.leaseOwner !== owner || job.attempts !== attempt) return false;
  const response = text === null ? null : codec.sealText(ROW.response(event, route, attempt), text);
  const outcome = error === null ? "succeeded" : "failed";
  end(changes, job, next, { startedAt, finishedAt, outcome, error, response, responseStatus });
  return true;
}

function end(
  changes: Changes,
  job: JobRow,
  next: Next,
  ended: Pick<AttemptRow, "startedAt" | "finishedAt" | "outcome" | "error" | "response" | "responseStatus">,
): void {
  const { event, route } = job;
  const erasure = changes.erasureOf(event);
  const { status, dueAt, isFree, isProbe, staysInLine } = afterAttempt(next, erasure !== undefined);
  const error = erasure && ended.error !== null ? ERASED : ended.error;
  changes.endAttempt(job, { ...ended, error, response: erasure ? null : ended.response, isProbe }, next.to);
  if (erasure && status === "discarded")
    changes.discards.push({ event, route, at: ended.finishedAt, reason: discardReason(erasure.reason) });
  else if (next.to === "failed") changes.deadLetters.push({ event, route, at: ended.finishedAt, reason: next.reason });
  changes.change(job, {
    status,
    dueAt,
    leaseOwner: null,
    claimedAt: null,
    endedAt: ended.finishedAt,
    lastError: error,
    orderingKey: erasure ? null : job.orderingKey,
    attemptsBeforeReplay: job.attemptsBeforeReplay + Number(isFree),
    probes: job.probes + Number(isProbe),
    inLine: job.inLine && staysInLine,
  });
}

/** The attempts that are in the history as told, with the same times. */
async function readRecorded(postgres: Postgres, batch: readonly Settlement[]): Promise<ReadonlySet<unknown>> {
  const times = { startedAt: integers, finishedAt: integers };
  const told = columnsOf(batch, { event: integers, route: texts, attempt: integers, ...times });
  const rows = await postgres.rows<AttemptRow>(RECORDED, told);
  return new Set(rows.map(nameOf));
}

const nameOf = ({ event, route, attempt }: Pick<Claim, "event" | "route" | "attempt">) =>
  `${event} ${attempt} ${route}`;
