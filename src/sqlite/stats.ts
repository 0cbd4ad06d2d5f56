import {
  createStatCounts,
  HOUR_MS,
  HOURS_KEPT_MS,
  MINUTES_KEPT_MS,
  minuteOf,
  type RouteAttempts,
  type StatCounts,
  type Stats,
} from "../events/stats.ts";
import type { EventStore } from "../events/store.ts";
import type { SyncPort } from "./async-store.ts";
import type { Database } from "./database.ts";

type Table = "stats_minutes" | "stats_hours";

/** Adds a count: time, outcome, slot, source, route, count. */
const add = (table: Table) => `
INSERT INTO ${table} (at, outcome, slot, source, route, count) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET count = count + excluded.count`;

const CHOSEN = `
at >= @since AND at < @until AND (@source IS NULL OR source = @source) AND (@route IS NULL OR route = @route)`;

/** Counts over time. */
const points = (table: Table) => `
SELECT at, outcome, slot, sum(count) AS count FROM ${table} WHERE ${CHOSEN} GROUP BY at, outcome, slot`;

/** The sums by source and route. */
const sums = (table: Table) => `
SELECT source, route, outcome, sum(count) AS count FROM ${table} WHERE ${CHOSEN} GROUP BY source, route, outcome`;

/** The attempts of each route by the minute, since a minute: the minute. */
const ATTEMPTS = `
SELECT at, route, sum(count) AS "all", coalesce(sum(count) FILTER (WHERE outcome <> 'processed'), 0) AS failed
FROM stats_minutes WHERE at >= ? AND outcome IN ('processed', 'retried', 'dead_lettered') GROUP BY at, route ORDER BY at, route`;

/** Removes counts before a time, at most an hour or a day of them, because deliveries wait: the time, the most milliseconds. */
const removeOld = (table: Table) => `
DELETE FROM ${table} WHERE at < min(?, (SELECT min(at) FROM ${table}) + ?)`;

/** Collects counts in a transaction. */
export interface StatWriter {
  /** Runs a part of a transaction and adds the counts that it collects. */
  count<T>(part: (stats: StatCounts) => T): T;
  /** Removes counts that are too old. */
  removeOld(now: number): void;
}

/** Prepares the writing of counts. */
export function statWriter(database: Database): StatWriter {
  const addMinute = database.prepare(add("stats_minutes"));
  const addHour = database.prepare(add("stats_hours"));
  const removeMinutes = database.prepare(removeOld("stats_minutes"));
  const removeHours = database.prepare(removeOld("stats_hours"));

  return {
    count(part) {
      const stats = createStatCounts();
      const result = part(stats);
      for (const { at, outcome, slot, source, route, count } of stats.rows()) {
        addMinute.run(at, outcome, slot, source, route, count);
        addHour.run(at - (at % HOUR_MS), outcome, slot, source, route, count);
      }
      return result;
    },
    removeOld(now) {
      removeMinutes.run(now - MINUTES_KEPT_MS, HOUR_MS);
      removeHours.run(now - HOURS_KEPT_MS, 24 * HOUR_MS);
    },
  };
}

/** Prepares the reads of counts. */
export function statReads(database: Database): SyncPort<Pick<EventStore, "stats" | "attemptsSince">> {
  const attempts = database.prepare<unknown[], RouteAttempts>(ATTEMPTS);

  return {
    stats: database.transaction(({ step, source, route, since, until }) => {
      const table = step === "minute" ? "stats_minutes" : "stats_hours";
      const chosen = { since, until, source: source ?? null, route: route ?? null };
      return {
        points: database.prepare<unknown[], Stats["points"][number]>(points(table)).all(chosen),
        sums: database.prepare<unknown[], Stats["sums"][number]>(sums(table)).all(chosen),
      };
    }),
    attemptsSince: (since) => attempts.all(minuteOf(since)),
  };
}
