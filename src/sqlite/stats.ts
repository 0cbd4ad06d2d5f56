import {
  createStatCounts,
  HOURS_KEPT_MS,
  MINUTES_KEPT_MS,
  minuteOf,
  type RouteAttempts,
  type StatCounts,
  type StatRow,
  type Stats,
} from "../events/stats.ts";
import type { EventStore } from "../events/store.ts";
import { DAY_MS, HOUR_MS } from "../lib/durations.ts";
import { changed, type Query } from "../storage/query.ts";
import type { SyncPort } from "./async-store.ts";
import type { Database } from "./database.ts";

const STEPS = ["minutes", "hours"] as const;
type Step = (typeof STEPS)[number];

/** The beginning of the minute or hour of a minute. */
const startOf = (at: number, step: Step) => (step === "hours" ? at - (at % HOUR_MS) : at);

/** Adds to a count: time, outcome, source, route, count. */
const addCount = (step: Step) => `
INSERT INTO stats_${step} (at, outcome, source, route, count) VALUES (?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET count = count + excluded.count`;

/** Adds to a class of latencies: time, class, source, route, count. */
const addLatency = (step: Step) => `
INSERT INTO latency_${step} (at, slot, source, route, count) VALUES (?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET count = count + excluded.count`;

const CHOSEN = `
at >= @since AND at < @until AND (@source IS NULL OR source = @source) AND (@route IS NULL OR route = @route)`;

const counts = (step: Step) => `
SELECT at, outcome, 0 AS slot, sum(count) AS count FROM stats_${step} WHERE ${CHOSEN} GROUP BY at, outcome`;

const latencies = (step: Step) => `
SELECT at, 'processed' AS outcome, slot, sum(count) AS count FROM latency_${step} WHERE ${CHOSEN} GROUP BY at, slot`;

const sums = (step: Step) => `
SELECT source, route, outcome, sum(count) AS count FROM stats_${step} WHERE ${CHOSEN} GROUP BY source, route, outcome`;

/**
 * Removes counts before a time, at most an hour or a day of them, because deliveries wait: the time, the most
 * milliseconds.
 */
const removeOld = (table: string) => `
DELETE FROM ${table} WHERE at < min(?, (SELECT min(at) FROM ${table}) + ?)`;

/** Prepares what runs a part of a transaction and adds the counts that it collects. */
export function statWriter(database: Database): <T>(part: (stats: StatCounts) => T) => T {
  const add = STEPS.map((step) => ({
    step,
    count: database.prepare(addCount(step)),
    latency: database.prepare(addLatency(step)),
  }));

  return (part) => {
    const stats = createStatCounts();
    const result = part(stats);
    for (const { at, outcome, slot, source, route, count } of stats.rows()) {
      for (const { step, ...to } of add) {
        if (slot === 0) to.count.run(startOf(at, step), outcome, source, route, count);
        else to.latency.run(startOf(at, step), slot, source, route, count);
      }
    }
    return result;
  };
}

/** Adds counts of what has no latency, as a part of a store that is written once. */
export function* addStats(rows: readonly StatRow[]): Query<void> {
  for (const { at, outcome, source, route, count } of rows)
    for (const step of STEPS) yield* changed(addCount(step), startOf(at, step), outcome, source, route, count);
}

/** Prepares the removal of counts that are too old at a time. */
export function statRemoval(database: Database): (now: number) => void {
  const remove = STEPS.flatMap((step) =>
    [`stats_${step}`, `latency_${step}`].map((table) => ({ step, statement: database.prepare(removeOld(table)) })),
  );
  return (now) => {
    for (const { step, statement } of remove) {
      if (step === "minutes") statement.run(now - MINUTES_KEPT_MS, HOUR_MS);
      else statement.run(now - HOURS_KEPT_MS, DAY_MS);
    }
  };
}

/** Prepares the reads of counts. */
export function statReads(database: Database): SyncPort<Pick<EventStore, "stats" | "attemptsSince">> {
  const attempts = database.prepare<unknown[], RouteAttempts>(`
    SELECT at, route, sum(count) AS "all", coalesce(sum(count) FILTER (WHERE outcome <> 'processed'), 0) AS failed
    FROM stats_minutes WHERE at >= ? AND outcome IN ('processed', 'retried', 'dead_lettered')
    GROUP BY at, route ORDER BY at, route`);

  return {
    stats: database.transaction(({ step, source, route, since, until }) => {
      const from = step === "minute" ? "minutes" : "hours";
      const chosen = { since, until, source: source ?? null, route: route ?? null };
      const rows = <Row>(text: string) => database.prepare<unknown[], Row>(text).all(chosen);
      return {
        points: [counts(from), latencies(from)].flatMap((text) => rows<Stats["points"][number]>(text)),
        sums: rows<Stats["sums"][number]>(sums(from)),
      };
    }),
    attemptsSince: (since) => attempts.all(minuteOf(since)),
  };
}
