import { MEMBERS, type Moves } from "../events/moves.ts";
import type { Backlog } from "../events/store.ts";
import type { Postgres, Queries } from "./connection.ts";
import { addStats, FOLD_STATS } from "./stats.ts";
import { integers, texts } from "./values.ts";

const ADD_TALLY = `
INSERT INTO authserve.tally (route, queued, processed, failed, discarded, queued_bytes, processed_bytes, failed_bytes, unrouted,
  conflicts, ids)
SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[],
  $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[])`;

/** Writes the moves of a transaction. */
export function writeMoves(queries: Queries, { differences, stats }: Moves): void {
  for (const { text, values } of addStats(stats.rows())) void queries.run(text, values);
  const rows = [...differences].filter(([, numbers]) => MEMBERS.some((name) => numbers[name] !== 0));
  if (rows.length === 0) return;
  const columns = MEMBERS.map((name) => integers(rows.map(([, numbers]) => numbers[name])));
  void queries.run(ADD_TALLY, [texts(rows.map(([route]) => route)), ...columns]);
}

/**
 * Replaces the rows by their sums. Of two at once, the second one leaves out the rows that the first one has replaced.
 */
const FOLD = `
WITH old AS (DELETE FROM authserve.tally RETURNING *)
INSERT INTO authserve.tally SELECT route, sum(queued), sum(processed), sum(failed), sum(discarded), sum(queued_bytes),
  sum(processed_bytes), sum(failed_bytes), sum(unrouted), sum(conflicts), sum(ids)
FROM old GROUP BY route`;

/**
 * About what the rows of an event take beside its payload and headers. The size is estimated, because PostgreSQL does
 * not return the space of removed rows.
 */
export const BYTES_PER_EVENT = 600;
const BYTES_PER_ID = 150;

/** What is stored: the sums, and the size. */
export const TOTALS = `
SELECT coalesce(sum(queued), 0) AS queued, coalesce(sum(processed), 0) AS processed, coalesce(sum(failed), 0) AS failed,
  coalesce(sum(processed_bytes), 0) AS "processedBytes", coalesce(sum(failed_bytes), 0) AS "failedBytes",
  coalesce(sum(discarded), 0) AS discarded, coalesce(sum(unrouted), 0) AS unrouted, coalesce(sum(conflicts), 0) AS conflicts, coalesce(sum(ids), 0) AS ids,
  coalesce(sum(queued_bytes + processed_bytes + failed_bytes + ${BYTES_PER_EVENT} * (queued + processed + failed)
    + ${BYTES_PER_ID} * ids), 0) AS bytes
FROM authserve.tally WHERE route = ''`;

/** The number of events in each status, and when the oldest queued one came. */
const BACKLOG = `
SELECT queued, processed - discarded - unrouted AS processed, failed, discarded, unrouted, conflicts, 0 AS unreadable, ids, bytes,
  (SELECT received_at FROM authserve.events WHERE id = least(
    (SELECT min(event) FROM authserve.jobs WHERE status = 'queued' AND status <> 'processed'),
    (SELECT min(event) FROM authserve.unrouted))) AS "oldestQueuedAt"
FROM (${TOTALS}) AS totals`;

/** Counts events and jobs in each status. */
export interface EventTally {
  backlog(): Promise<Backlog>;
  /** Call it after each transaction that has added rows. */
  note(): void;
}

// Each transaction adds one to three rows. A sum of 1,000 rows takes less than 1 ms.
const FOLD_EVERY = 200;

/** Creates the tally of a database. */
export function eventTally(postgres: Postgres): EventTally {
  let added = 0;
  let isFolding = false;

  async function fold(): Promise<void> {
    isFolding = true;
    try {
      await postgres.run(FOLD);
      await postgres.run(FOLD_STATS);
    } catch {
      // The rows are still there for the next time.
    } finally {
      isFolding = false;
    }
  }

  return {
    async backlog() {
      const [row] = await postgres.rows<Backlog>(BACKLOG);
      return row as Backlog;
    },
    note() {
      if (++added % FOLD_EVERY === 0 && !isFolding) void fold();
    },
  };
}
