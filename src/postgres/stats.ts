import {
  HOURS_KEPT_MS,
  MINUTES_KEPT_MS,
  minuteOf,
  type RouteAttempts,
  type StatRow,
  type Stats,
} from "../events/stats.ts";
import type { EventStore } from "../events/store.ts";
import { HOUR_MS, MINUTE_MS } from "../lib/durations.ts";
import { changed, type Query } from "../storage/query.ts";
import type { Postgres, Queries } from "./connection.ts";
import { columnsOf, integers, texts } from "./values.ts";

const ADD = `
INSERT INTO authserve.stats_added (at, outcome, slot, source, route, count)
SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::bigint[])`;

/** A time in SQL as the beginning of its minute. */
export const minuteInSql = (time: string) => `${time} / ${MINUTE_MS} * ${MINUTE_MS}`;

const HOUR = `at / ${HOUR_MS} * ${HOUR_MS}`;

/** Adds old rows to a table: their time, and what they are counted by besides source and route. */
const addSums = (table: string, at: string, by: "outcome" | "slot") => `
INSERT INTO authserve.${table} AS known (at, ${by}, source, route, count)
SELECT ${at}, ${by}, source, route, sum(count) FROM old WHERE slot ${by === "slot" ? ">" : "="} 0 GROUP BY 1, 2, 3, 4
ORDER BY 1, 2, 3, 4
ON CONFLICT (at, ${by}, source, route) DO UPDATE SET count = known.count + excluded.count`;

/**
 * Moves what transactions have added to the tables by minute and by hour. Of two at once, the second one finds no rows.
 */
export const FOLD_STATS = `
WITH old AS (DELETE FROM authserve.stats_added RETURNING *),
minutes AS (${addSums("stats_minutes", "at", "outcome")}),
hours AS (${addSums("stats_hours", HOUR, "outcome")}),
latency_of_minutes AS (${addSums("latency_minutes", "at", "slot")})
${addSums("latency_hours", HOUR, "slot")}`;

/** All rows of a step, as {@link StatRow}. */
const rowsBy = (step: "minute" | "hour") => `
SELECT at, outcome, 0 AS slot, source, route, count FROM authserve.stats_${step}s
UNION ALL SELECT at, 'processed', slot, source, route, count FROM authserve.latency_${step}s
UNION ALL SELECT ${step === "minute" ? "at" : HOUR}, outcome, slot, source, route, count FROM authserve.stats_added`;

const CHOSEN = `
at >= $1 AND at < $2 AND ($3::text IS NULL OR source = $3) AND ($4::text IS NULL OR route = $4)`;

/** Counts over time: since, until, source, route. */
const points = (step: "minute" | "hour") => `
SELECT at, outcome, slot, sum(count) AS count FROM (${rowsBy(step)}) AS counts WHERE ${CHOSEN}
GROUP BY at, outcome, slot ORDER BY at, slot, outcome`;

const sums = (step: "minute" | "hour") => `
SELECT source, route, outcome, sum(count) AS count FROM (${rowsBy(step)}) AS counts WHERE slot = 0 AND ${CHOSEN}
GROUP BY source, route, outcome ORDER BY source, route`;

/** The attempts of each route by the minute, since a minute: the minute. */
const ATTEMPTS = `
SELECT at, route, sum(count) AS all, coalesce(sum(count) FILTER (WHERE outcome <> 'processed'), 0) AS failed
FROM (${rowsBy("minute")}) AS counts WHERE slot = 0 AND at >= $1 AND outcome IN ('processed', 'retried', 'dead_lettered')
GROUP BY at, route ORDER BY at, route`;

/** Removes counts before a time: the time. */
const remove = (table: string) => `DELETE FROM authserve.${table} WHERE at < $1`;

const ROW = { at: integers, outcome: texts, slot: integers, source: texts, route: texts, count: integers };

/** Adds counts. */
export function* addStats(rows: readonly StatRow[]): Query<void> {
  if (rows.length > 0) yield* changed(ADD, ...columnsOf(rows, ROW));
}

/** Removes counts that are too old, also of a server that has been idle since it added them. */
export async function removeOldStats(queries: Queries, now: number): Promise<void> {
  await queries.run(FOLD_STATS);
  for (const table of ["stats", "latency"]) {
    await queries.run(remove(`${table}_minutes`), [now - MINUTES_KEPT_MS]);
    await queries.run(remove(`${table}_hours`), [now - HOURS_KEPT_MS]);
  }
}

/** Reads counts. */
export function statReads(postgres: Postgres): Pick<EventStore, "stats" | "attemptsSince"> {
  return {
    stats: ({ step, since, until, source = null, route = null }) =>
      postgres.transaction(async (queries) => {
        const chosen = [since, until, source, route];
        const [pointRows, sumRows] = await Promise.all([
          queries.rows<Stats["points"][number]>(points(step), chosen),
          queries.rows<Stats["sums"][number]>(sums(step), chosen),
        ]);
        return { points: pointRows, sums: sumRows };
      }),
    attemptsSince: (since) => postgres.rows<RouteAttempts>(ATTEMPTS, [minuteOf(since)]),
  };
}
