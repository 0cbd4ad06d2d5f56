import { hash } from "node:crypto";
import { promised, type Sync } from "../../promised.ts";
import { atomic, type Database, guarded } from "../../sqlite/database.ts";
import { LONGEST_WAIT_MS } from "../event.ts";
import type {
  Appended,
  AttemptRecord,
  Backlog,
  Claim,
  ClaimedEvent,
  ClaimRequest,
  Conflict,
  DeadLetterRange,
  EventDetail,
  EventFilter,
  EventStore,
  EventSummary,
  NewEvent,
  ReplayedPiece,
  ReplayFilter,
  Settlement,
} from "../store.ts";
import * as sql from "./sql.ts";

interface DueRow extends Omit<ClaimedEvent, "attempt" | "attemptOfBudget"> {
  attempts: number;
  attemptsBeforeReplay: number;
  leaseOwner: string | null;
  claimedAt: number | null;
}

type DetailRow = Omit<EventDetail, "headers" | "leased" | "history" | "deadLetter" | "conflicts"> & {
  id: number;
  headers: string;
  leased: number;
};

type ConflictRow = Omit<Conflict, "payload"> & { id: number; bytes: number };

// The same objects each time: what crosses to another thread is then a reference for each delivery, not a copy.
const NEW: Appended = Object.freeze({ duplicate: false, conflict: false });
const DUPLICATE: Appended = Object.freeze({ duplicate: true, conflict: false });
const CONFLICT: Appended = Object.freeze({ duplicate: true, conflict: true });

// A claim reads, writes and hands over its payloads while deliveries wait: 0.1 s for these. A replay writes them.
const MAX_PAYLOAD_BYTES = 8 * 1024 * 1024;

// Dead letters in one transaction: with 3 KB each, deliveries beside a replay take 43 ms at the 99th percentile.
const MAX_REPLAYED = 1000;

// A sender that gives all its events one id fills the disk with conflicts. The first of them tell enough, and one body of
// the largest size fits.
const MAX_CONFLICT_BYTES = 64 * 1024 * 1024;

const LEASE_EXPIRED = "the lease expired before the attempt ended: the process was killed or hung";

/** How many of these payloads one transaction takes: one whatever its size, and more as far as they fit. */
function fitting(sizes: readonly number[]): number {
  let bytes = 0;
  const tooMuch = sizes.findIndex((size) => {
    bytes += size;
    return bytes > MAX_PAYLOAD_BYTES;
  });
  return tooMuch === -1 ? sizes.length : Math.max(1, tooMuch);
}

/** Keeps events in a SQLite database that somebody else opens and closes. */
export function createSqliteEventStore(database: Database): EventStore {
  return promised<EventStore>(sqliteEvents(database));
}

/** The SQLite event store, synchronous. */
export function sqliteEvents(database: Database): Sync<EventStore> {
  const statement = (text: string) => database.prepare(text);
  const append = statement(sql.APPEND);
  const storedPayload = database.prepare<unknown[], { id: number; payload: Buffer }>(sql.STORED_PAYLOAD);
  const addConflict = statement(sql.ADD_CONFLICT);
  const dueSizes = statement(sql.DUE_SIZES).pluck();
  const due = database.prepare<unknown[], DueRow>(sql.DUE);
  const nextDue = statement(sql.NEXT_DUE).pluck();
  const lease = statement(sql.LEASE);
  const renew = statement(sql.RENEW);
  const settle = statement(sql.SETTLE);
  const bury = database.prepare<unknown[], EventSummary>(sql.BURY);
  const addAttempt = statement(sql.ADD_ATTEMPT);
  const addDeadLetter = statement(sql.ADD_DEAD_LETTER);
  const release = statement(sql.RELEASE);
  const releaseAll = statement(sql.RELEASE_ALL);
  const replayOne = database.prepare<unknown[], { id: number }>(sql.REPLAY_ONE);
  const lastDeadLetter = statement(sql.LAST_DEAD_LETTER).pluck();
  const nextDeadLetters = database.prepare<unknown[], { id: number; bytes: number }>(sql.NEXT_DEAD_LETTERS);
  const replayDeadLetters = statement(sql.REPLAY_DEAD_LETTERS);
  const removeDeadLetter = statement(sql.REMOVE_DEAD_LETTER);
  const removeDeadLetters = statement(sql.REMOVE_DEAD_LETTERS);
  const get = database.prepare<unknown[], DetailRow>(sql.GET);
  const history = database.prepare<unknown[], AttemptRecord>(sql.HISTORY);
  const deadLetter = database.prepare<unknown[], { failedAt: number; reason: string }>(sql.DEAD_LETTER);
  const conflicts = database.prepare<unknown[], ConflictRow>(sql.CONFLICTS);
  const conflictPayload = database.prepare<unknown[], Buffer>(sql.CONFLICT_PAYLOAD).pluck();
  const backlog = database.prepare<unknown[], Backlog>(sql.BACKLOG);
  const totals = database.prepare<unknown[], { total: number; conflicts: number }>(sql.TOTALS);
  const countAll = database.transaction(() => {
    const { total, conflicts } = totals.get() as { total: number; conflicts: number };
    const rest = backlog.get() as Backlog;
    return { ...rest, processed: total - rest.queued - rest.failed, conflicts };
  });
  const check = statement("SELECT count(*) FROM sqlite_schema");

  function appendOne(event: NewEvent): Appended {
    const { source, eventId, type, receivedAt, address, headers, contentType, payload } = event;
    if (append.run(source, eventId, type, receivedAt, receivedAt, address, headers, contentType, payload).changes === 1)
      return NEW;
    const stored = storedPayload.get({ eventId: event.eventId, source: event.source });
    if (!stored || stored.payload.equals(event.payload)) return DUPLICATE;
    const payloadSha256 = hash("sha256", event.payload, "buffer");
    addConflict.run({
      event: stored.id,
      payloadSha256,
      payload: event.payload,
      address: event.address,
      receivedAt: event.receivedAt,
    });
    return CONFLICT;
  }
  const appendAll = atomic(database, (batch: NewEvent[]) => batch.map(appendOne));

  /** Ends an expired lease in the history; buries the event when that was its last attempt. */
  function expire(row: DueRow, maxAttempts: number, now: number): EventSummary | undefined {
    addAttempt.run(row.id, row.attempts, row.claimedAt, now, "lease_expired", LEASE_EXPIRED);
    if (row.attempts - row.attemptsBeforeReplay < maxAttempts) return undefined;
    addDeadLetter.run({ event: row.id, failedAt: now, reason: LEASE_EXPIRED });
    return bury.get({ id: row.id, error: LEASE_EXPIRED });
  }

  const claimDue = atomic(database, (request: ClaimRequest) => {
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
    return { claimed, expired, buried, nextDueAt: nextDue.get() as number | null };
  });

  function settleOne(settlement: Settlement): boolean {
    const { id, owner, attempt, next, startedAt, finishedAt, error } = settlement;
    const dueAt = next.to === "queued" ? next.runAt : finishedAt;
    const processedAt = next.to === "processed" ? finishedAt : null;
    const free = next.to === "queued" && next.isFree ? 1 : 0;
    if (settle.run(next.to, dueAt, processedAt, error, free, id, owner, attempt).changes === 0) return false;
    addAttempt.run(id, attempt, startedAt, finishedAt, error === null ? "succeeded" : "failed", error);
    if (next.to === "failed") addDeadLetter.run({ event: id, failedAt: finishedAt, reason: next.reason });
    return true;
  }
  const settleAll = atomic(database, (batch: Settlement[]) => batch.map(settleOne));

  const releaseEach = atomic(database, (claims: Claim[], now: number) => {
    for (const { id, owner, attempt } of claims) release.run(now, id, owner, attempt);
  });

  const replay = atomic(database, (filter: ReplayFilter, now: number) => {
    const rows = replayOne.all({ ...filter, evenIfProcessed: filter.evenIfProcessed ? 1 : 0, now });
    for (const { id } of rows) removeDeadLetter.run(id);
    return rows.length;
  });

  const replayPiece = atomic(database, (now: number, rest?: DeadLetterRange): ReplayedPiece => {
    const { after, last } = rest ?? { after: 0, last: lastDeadLetter.get() as number | null };
    if (last === null) return { replayed: 0, rest: null };
    const next = nextDeadLetters.all(after, last, MAX_REPLAYED);
    const end = next[fitting(next.map(({ bytes }) => bytes)) - 1]?.id ?? last;
    const { changes } = replayDeadLetters.run({ after, last: end, now });
    removeDeadLetters.run({ after, last: end });
    return { replayed: changes, rest: end < last ? { after: end, last } : null };
  });

  const list = database.transaction((filter: EventFilter) => {
    const rows = (text: string) => database.prepare<unknown[], EventSummary>(text).all(filter);
    const claimed = rows(sql.listClaimedStatement(filter));
    if (filter.status !== undefined && filter.status !== "queued") return claimed;
    const unclaimed = rows(sql.listUnclaimedStatement(filter));
    return [...unclaimed, ...claimed].sort((a, b) => b.receivedAt - a.receivedAt).slice(0, filter.limit);
  });

  const getDetails = database.transaction((eventId: string, source: string | undefined) =>
    get.all({ eventId, source: source ?? null }).map(detail),
  );

  function detail({ id, ...row }: DetailRow): EventDetail {
    return {
      ...row,
      dueAt: row.status === "queued" ? row.dueAt : null,
      leased: row.leased === 1,
      headers: JSON.parse(row.headers) as Record<string, string>,
      history: history.all(id),
      deadLetter: deadLetter.get(id) ?? null,
      conflicts: conflictsOf(id),
    };
  }

  /** Oldest first, each with its bytes as far as they fit. */
  function conflictsOf(event: number): Conflict[] {
    let read = 0;
    return conflicts.all(event).map(({ id, bytes, ...conflict }) => {
      read += bytes;
      return { ...conflict, payload: read > MAX_CONFLICT_BYTES ? null : (conflictPayload.get(id) ?? null) };
    });
  }

  return {
    append(batch) {
      return guarded(() => appendAll(batch));
    },
    claim(request) {
      return guarded(() => {
        // An idle poll writes nothing.
        const nextDueAt = nextDue.get() as number | null;
        if (nextDueAt === null || nextDueAt > request.now) return { claimed: [], expired: 0, buried: [], nextDueAt };
        return claimDue(request);
      });
    },
    renew({ id, owner, attempt }, leaseMs, now) {
      return guarded(() => renew.run({ id, owner, attempt, leaseEndsAt: now + leaseMs }).changes === 1);
    },
    settle(batch) {
      return guarded(() => settleAll(batch));
    },
    release(claims, now) {
      guarded(() => releaseEach(claims, now));
    },
    releaseAll(now) {
      return guarded(() => releaseAll.run({ now, longestWaitMs: LONGEST_WAIT_MS }).changes);
    },
    replay(filter, now) {
      return guarded(() => replay(filter, now));
    },
    replayDeadLetters(now, rest) {
      return guarded(() => replayPiece(now, rest));
    },
    list(filter) {
      return guarded(() => list(filter));
    },
    get(eventId, source) {
      return guarded(() => getDetails(eventId, source));
    },
    backlog() {
      return guarded(() => backlog.get() as Backlog);
    },
    counts() {
      return guarded(() => countAll());
    },
    check() {
      guarded(() => check.get());
    },
  };
}
