import type { Queries } from "./connection.ts";
import { columnsOf, integers, texts } from "./values.ts";

/** An ordering key of a route. Its jobs are a line: they run one at a time, in order of arrival. */
export interface Line {
  route: string;
  orderingKey: string;
}

/**
 * Locks the lines of some events' jobs, and further lines, until the end of the transaction: events, routes, keys. A
 * lock of its own, because no row lasts as long as a line. All transactions lock in the same order, and before any job.
 */
const LOCK_LINES = `
SELECT pg_advisory_xact_lock(line) FROM (
  SELECT DISTINCT hashtextextended(route || ' ' || ordering_key, 0) AS line FROM (
    SELECT route, ordering_key FROM authserve.jobs WHERE event = ANY($1::bigint[]) AND ordering_key IS NOT NULL
    UNION ALL SELECT * FROM unnest($2::text[], $3::text[])) AS named
  ORDER BY line) AS lines`;

/**
 * Gives the turn to the first job of each line, unless it failed or another job has the turn: routes, keys, now.
 * Materialized, so that it looks up each line by itself also before the table has statistics.
 */
const PROMOTE = `
WITH first AS MATERIALIZED (
  SELECT route, (SELECT min(event) FROM authserve.jobs AS waiting
    WHERE waiting.route = line.route AND waiting.ordering_key = line.ordering_key AND in_line) AS event
  FROM unnest($1::text[], $2::text[]) AS line (route, ordering_key)
  WHERE (SELECT count(*) FROM authserve.jobs AS turn
    WHERE turn.route = line.route AND turn.ordering_key = line.ordering_key AND due_at IS NOT NULL) = 0)
UPDATE authserve.jobs AS job SET due_at = $3 FROM first
WHERE job.event = first.event AND job.route = first.route AND job.status = 'queued'`;

/** Lets the dead letters of a route keep no jobs waiting. Returns their ordering keys: route. */
const UNBLOCK = `
UPDATE authserve.jobs SET in_line = false WHERE route = $1 AND in_line AND status = 'failed'
RETURNING ordering_key AS "orderingKey"`;

/** The lines of a route that a dead letter blocks: route. */
const BLOCKED = `
SELECT DISTINCT ordering_key AS "orderingKey" FROM authserve.jobs WHERE route = $1 AND in_line AND status = 'failed'`;

const LINE = { route: texts, orderingKey: texts };

/**
 * Locks the lines of all jobs of these events, and further lines, in a transaction. Call it before anything that reads
 * or changes a line. The next statements wait for it.
 */
export function lockLines(queries: Queries, events: readonly number[], more: readonly Line[] = []): void {
  void queries.run(LOCK_LINES, [integers(events), ...columnsOf(more, LINE)]);
}

/** Gives the turn in some lines, which must be locked, to their first jobs. */
export function promote(queries: Queries, lines: readonly Line[], now: number): void {
  if (lines.length > 0) void queries.run(PROMOTE, [...columnsOf(distinct(lines), LINE), now]);
}

/** Ends the waiting for the dead letters of a route, in a transaction. */
export async function unblock(queries: Queries, route: string, now: number): Promise<void> {
  const blocked = await queries.rows<{ orderingKey: string }>(BLOCKED, [route]);
  if (blocked.length === 0) return;
  lockLines(queries, [], linesOf(route, blocked));
  const unblocked = await queries.rows<{ orderingKey: string }>(UNBLOCK, [route]);
  promote(queries, linesOf(route, unblocked), now);
}

const linesOf = (route: string, keys: readonly { orderingKey: string }[]): Line[] =>
  keys.map(({ orderingKey }) => ({ route, orderingKey }));

/** Two rows of one line would both be updated. */
function distinct(lines: readonly Line[]): Line[] {
  return [...new Map(lines.map((line) => [`${line.route} ${line.orderingKey}`, line])).values()];
}
