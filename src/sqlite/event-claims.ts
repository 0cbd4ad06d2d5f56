import { LONGEST_WAIT_MS } from "../events/event.ts";
import type { Claim, ClaimedEvent, ClaimRequest, EventStore, EventSummary, Settlement } from "../events/store.ts";
import { atomic, type Database } from "./database.ts";
import * as sql from "./events-sql.ts";
import { fitting } from "./payload-budget.ts";
import type { Sync } from "./promised.ts";

interface DueRow extends Omit<ClaimedEvent, "attempt" | "attemptOfBudget"> {
  attempts: number;
  attemptsBeforeReplay: number;
  leaseOwner: string | null;
  claimedAt: number | null;
}

const LEASE_EXPIRED = "the lease expired before the attempt ended: the process was killed or hung";

/** Claims of events: leasing, renewing, settling and giving back, each in one transaction. */
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
  const readNextDue = () => nextDue.get() as number | null;

  const takeDue = atomic(database, leasing(database));
  const settleOne = settling(database);
  const settleAll = atomic(database, (batch: Settlement[]) => batch.map(settleOne));
  const releaseEach = atomic(database, (claims: Claim[], now: number) => {
    for (const { id, owner, attempt } of claims) release.run(now, id, owner, attempt);
  });

  return {
    claim(request) {
      // An idle poll writes nothing.
      const nextDueAt = readNextDue();
      if (nextDueAt === null || nextDueAt > request.now) return { claimed: [], expired: 0, buried: [], nextDueAt };
      return { ...takeDue(request), nextDueAt: readNextDue() };
    },
    renew({ id, owner, attempt }, leaseMs, now) {
      return renew.run({ id, owner, attempt, leaseEndsAt: now + leaseMs }).changes === 1;
    },
    settle: settleAll,
    release: releaseEach,
    releaseAll(now) {
      return releaseAll.run({ now, longestWaitMs: LONGEST_WAIT_MS }).changes;
    },
  };
}

/** What a claim takes: due events and expired leases; those whose last attempt expired are dead-lettered instead. */
function leasing(database: Database) {
  const dueSizes = database.prepare(sql.DUE_SIZES).pluck();
  const due = database.prepare<unknown[], DueRow>(sql.DUE);
  const lease = database.prepare(sql.LEASE);
  const renew = database.prepare(sql.RENEW);
  const expire = expiring(database);

  return (request: ClaimRequest) => {
    const { owner, limit, leaseMs, maxAttempts, now, holding = [] } = request;
    const claimed: ClaimedEvent[] = [];
    const buried: EventSummary[] = [];
    let expired = 0;
    for (const row of due.all(now, fitting(dueSizes.all(now, limit) as number[]))) {
      if (row.leaseOwner === owner && holding.includes(row.id)) {
        renew.run({ id: row.id, owner, attempt: row.attempts, leaseEndsAt: now + leaseMs });
        continue;
      }
      const summary = row.leaseOwner === null ? undefined : expire(row, maxAttempts, now);
      if (summary) {
        buried.push(summary);
        continue;
      }
      if (row.leaseOwner !== null) expired++;
      lease.run(owner, now, now + leaseMs, row.id);
      const { attempts, attemptsBeforeReplay, leaseOwner: _, claimedAt: __, ...event } = row;
      claimed.push({ ...event, attempt: attempts + 1, attemptOfBudget: attempts + 1 - attemptsBeforeReplay });
    }
    return { claimed, expired, buried };
  };
}

/** Ends an expired lease in the history; dead-letters the event when that was its last attempt, and returns it then. */
function expiring(database: Database) {
  const addAttempt = database.prepare(sql.ADD_ATTEMPT);
  const addDeadLetter = database.prepare(sql.ADD_DEAD_LETTER);
  const bury = database.prepare<unknown[], EventSummary>(sql.BURY);

  return (row: DueRow, maxAttempts: number, now: number): EventSummary | undefined => {
    addAttempt.run(row.id, row.attempts, row.claimedAt, now, "lease_expired", LEASE_EXPIRED);
    if (row.attempts - row.attemptsBeforeReplay < maxAttempts) return undefined;
    addDeadLetter.run({ event: row.id, failedAt: now, reason: LEASE_EXPIRED });
    return bury.get({ id: row.id, error: LEASE_EXPIRED });
  };
}

/** Ends one attempt with its history; returns false, and changes nothing, when its claim is no longer held. */
function settling(database: Database) {
  const settle = database.prepare(sql.SETTLE);
  const addAttempt = database.prepare(sql.ADD_ATTEMPT);
  const addDeadLetter = database.prepare(sql.ADD_DEAD_LETTER);

  return ({ id, owner, attempt, next, startedAt, finishedAt, error }: Settlement): boolean => {
    const dueAt = next.to === "queued" ? next.runAt : finishedAt;
    const processedAt = next.to === "processed" ? finishedAt : null;
    const free = next.to === "queued" && next.isFree ? 1 : 0;
    if (settle.run(next.to, dueAt, processedAt, error, free, id, owner, attempt).changes === 0) return false;
    addAttempt.run(id, attempt, startedAt, finishedAt, error === null ? "succeeded" : "failed", error);
    if (next.to === "failed") addDeadLetter.run({ event: id, failedAt: finishedAt, reason: next.reason });
    return true;
  };
}
