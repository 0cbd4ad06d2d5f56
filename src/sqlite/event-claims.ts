import {
  type AttemptOutcome,
  type Claim,
  type ClaimedJob,
  LONGEST_WAIT_MS,
  type Next,
  type Settlement,
} from "../events/job.ts";
import type { BuriedJob, ClaimRequest, EventStore } from "../events/store.ts";
import { atomic, type Database } from "./database.ts";
import { type EventTally, eventTally, type NoteMove } from "./event-tally.ts";
import * as sql from "./events-sql.ts";
import { takeFitting } from "./payload-budget.ts";
import type { Sync } from "./promised.ts";

interface DueRow extends Omit<ClaimedJob, "attempt" | "attemptOfBudget"> {
  attempts: number;
  attemptsBeforeReplay: number;
  leaseOwner: string | null;
  claimedAt: number | null;
}

const LEASE_EXPIRED = "the lease expired: the process ended or hung before the attempt did";

/** Claims of jobs: leasing, renewing, settling and giving back, each in one transaction. */
export interface EventClaims extends Sync<Pick<EventStore, "claim" | "renew" | "settle" | "release">> {
  /** Frees the leases of workers that are known to be dead, and what waits for longer than any policy asks. Returns how many. */
  releaseAll(now: number): number;
}

/** Prepares the claims of a database. */
export function eventClaims(database: Database): EventClaims {
  const nextDue = database.prepare(sql.NEXT_DUE).pluck();
  const renew = database.prepare(sql.RENEW);
  const release = database.prepare(sql.RELEASE);
  const releaseAll = database.prepare(sql.RELEASE_ALL);
  const tally = eventTally(database);
  const readNextDue = (route: string) => nextDue.get(route) as number | null;

  const end = ending(database, tally);
  const takeDue = atomic(database, leasing(database, tally, end));
  const settleAll = atomic(database, (batch: Settlement[]) =>
    tally.count((note) =>
      batch.map((settlement) => end(settlement, settlement.error === null ? "succeeded" : "failed", note)),
    ),
  );
  const releaseEach = atomic(database, (claims: Claim[], now: number) => {
    for (const { event, route, owner, attempt } of claims) release.run(now, event, route, owner, attempt);
  });

  return {
    claim(request) {
      // An idle poll writes nothing.
      const nextDueAt = readNextDue(request.route);
      if (nextDueAt === null || nextDueAt > request.now) return { claimed: [], expired: 0, buried: [], nextDueAt };
      return { ...takeDue(request), nextDueAt: readNextDue(request.route) };
    },
    renew({ event, route, owner, attempt }, leaseMs, now) {
      return renew.run(now + leaseMs, event, route, owner, attempt).changes === 1;
    },
    settle: settleAll,
    release: releaseEach,
    releaseAll(now) {
      return releaseAll.run({ now, longestWaitMs: LONGEST_WAIT_MS }).changes;
    },
  };
}

/** What a claim takes. Expired leases end: their jobs wait, or are dead-lettered. */
function leasing(database: Database, tally: EventTally, end: EndAttempt) {
  const due = database.prepare<unknown[], DueRow>(sql.DUE);
  const lease = database.prepare(sql.LEASE);
  const renew = database.prepare(sql.RENEW);

  return (request: ClaimRequest) => {
    const { route, owner, limit, leaseMs, retryDelaysMs, now, holding = [] } = request;
    const leaseEndsAt = now + leaseMs;
    const claimed: ClaimedJob[] = [];
    const buried: BuriedJob[] = [];
    let expired = 0;

    function expire(row: DueRow, leaseOwner: string, note: NoteMove): void {
      const { event, source, eventId, type, attempts: attempt, claimedAt } = row;
      const delayMs = retryDelaysMs[attempt - row.attemptsBeforeReplay - 1];
      const next: Next =
        delayMs === undefined ? { to: "failed", reason: LEASE_EXPIRED } : { to: "queued", runAt: now + delayMs };
      const times = { startedAt: claimedAt ?? now, finishedAt: now };
      end({ event, route, owner: leaseOwner, attempt, next, ...times, error: LEASE_EXPIRED }, "lease_expired", note);
      if (next.to === "queued") expired++;
      else buried.push({ source, eventId, type, route, attempt, error: LEASE_EXPIRED });
    }

    function take(row: DueRow, note: NoteMove): void {
      if (row.leaseOwner === owner && holding.includes(row.event)) {
        renew.run(leaseEndsAt, row.event, route, owner, row.attempts);
        return;
      }
      if (row.leaseOwner !== null) {
        expire(row, row.leaseOwner, note);
        return;
      }
      lease.run(owner, now, leaseEndsAt, row.event, route);
      const { attempts, attemptsBeforeReplay, leaseOwner: _, claimedAt: __, ...job } = row;
      claimed.push({ ...job, attempt: attempts + 1, attemptOfBudget: attempts + 1 - attemptsBeforeReplay });
    }

    const rows = takeFitting(due.iterate(route, now, limit));
    tally.count((note) => {
      for (const row of rows) take(row, note);
    });
    return { claimed, expired, buried };
  };
}

/** Ends one attempt with its history; returns false, and changes nothing, when its claim is no longer held. */
type EndAttempt = (settlement: Settlement, outcome: AttemptOutcome, note: NoteMove) => boolean;

function ending(database: Database, tally: EventTally): EndAttempt {
  const settle = database.prepare(sql.SETTLE);
  const addAttempt = database.prepare(sql.ADD_ATTEMPT);
  const addDeadLetter = database.prepare(sql.ADD_DEAD_LETTER);

  return ({ event, route, owner, attempt, next, startedAt, finishedAt, error }, outcome, note) => {
    const dueAt = next.to === "queued" ? next.runAt : null;
    const free = next.to === "queued" && next.isFree ? 1 : 0;
    const { changes } = settle.run(next.to, dueAt, finishedAt, error, free, event, route, owner, attempt);
    if (changes === 0) return false;
    addAttempt.run(event, route, attempt, startedAt, finishedAt, outcome, error);
    if (next.to === "failed") addDeadLetter.run(event, route, finishedAt, next.reason);
    if (next.to !== "queued") note("queued", tally.statusOf(event));
    return true;
  };
}
