import { DAY_MS, MINUTE_MS } from "../lib/durations.ts";

/**
 * What is counted. Of deliveries: events received, duplicates, conflicts (other bytes under a known id), repeats (known
 * bytes under another id) and refused ones. Of events: those that no route matched. Of attempts: jobs processed, queued
 * for a retry, and dead-lettered.
 */
export const OUTCOMES = [
  "received",
  "duplicate",
  "conflict",
  "repeat",
  "refused",
  "unrouted",
  "processed",
  "retried",
  "dead_lettered",
] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** The outcome of an attempt, by the next status of its job. */
export const OUTCOME_OF = { processed: "processed", queued: "retried", failed: "dead_lettered" } as const;

/**
 * A count within a minute or an hour that begins at `at` (Unix milliseconds). Only attempts have a route; others have
 * "".
 */
export interface StatRow {
  at: number;
  source: string;
  route: string;
  outcome: Outcome;
  /** 0 counts the outcome. Above 0 it counts the events processed within a class of latencies, see {@link slotOf}. */
  slot: number;
  count: number;
}

/** Minutes are kept for two days, hours for 400 days. */
export const MINUTES_KEPT_MS = 2 * DAY_MS;
export const HOURS_KEPT_MS = 400 * DAY_MS;

/** The beginning of the minute of a time. */
export const minuteOf = (at: number) => at - (at % MINUTE_MS);

/** One thing that is counted, at a time in Unix milliseconds. */
export interface Stat {
  at: number;
  source: string;
  route?: string;
  outcome: Outcome;
  /** Milliseconds from receipt to the end of processing. */
  latencyMs?: number | undefined;
}

/** What is counted of an ended attempt. A replay has no latency, because the event waited for it. */
export function attemptStat(
  { source, receivedAt }: { source: string; receivedAt: number },
  { route, outcome, at, isReplay }: { route: string; outcome: Outcome; at: number; isReplay: boolean },
): Stat {
  const latencyMs = outcome === "processed" && !isReplay ? at - receivedAt : undefined;
  return { at, source, route, outcome, latencyMs };
}

/** Collects counts by minute. */
export interface StatCounts {
  add(stat: Stat, count?: number): void;
  rows(): StatRow[];
}

/** Creates an empty collection. */
export function createStatCounts(): StatCounts {
  const rows = new Map<string, StatRow>();

  function addRow({ at, source, route = "", outcome }: Stat, slot: number, count: number): void {
    const minute = minuteOf(at);
    const name = `${minute} ${outcome} ${slot} ${source} ${route}`;
    const known = rows.get(name);
    if (known) known.count += count;
    else rows.set(name, { at: minute, source, route, outcome, slot, count });
  }

  return {
    add({ latencyMs, ...stat }, count = 1) {
      addRow(stat, 0, count);
      if (latencyMs !== undefined) addRow(stat, slotOf(latencyMs), count);
    },
    rows: () => [...rows.values()],
  };
}

/** The class of a latency: 1 is below 1 ms, 2 below 2 ms, 3 below 4 ms and so on, each twice the one before. */
export function slotOf(latencyMs: number): number {
  const whole = Math.max(0, Math.floor(latencyMs));
  return whole === 0 ? 1 : Math.floor(Math.log2(whole)) + 2;
}

/** The bounds of a class in milliseconds. */
const boundsOf = (slot: number) => ({ from: slot === 1 ? 0 : 2 ** (slot - 2), to: 2 ** (slot - 1) });

/** Asks for counts from `since`, before `until` (Unix milliseconds), by minute or hour. */
export interface StatRequest {
  since: number;
  until: number;
  step: "minute" | "hour";
  source?: string;
  route?: string;
}

/** Counts over time, and their sums by source and route. */
export interface Stats {
  points: Omit<StatRow, "source" | "route">[];
  sums: Omit<StatRow, "at" | "slot">[];
}

/** The failed and all attempts of a route that ended in the minute from `at` on. */
export interface RouteAttempts {
  at: number;
  route: string;
  failed: number;
  all: number;
}

type Counts = Record<Outcome, number>;

/**
 * Latencies in milliseconds that half, 95 and 99 of 100 events did not exceed. Estimated: classes are known, not each
 * value.
 */
interface Latency {
  p50: number;
  p95: number;
  p99: number;
}

/** A part of a chart: the counts and the latency of the time from `at` on. */
interface ChartPoint extends Counts {
  at: number;
  latency: Latency | null;
}

/** A chart of counts, without gaps. `total` is of the whole time. */
export interface Chart {
  points: ChartPoint[];
  total: Counts & { latency: Latency | null };
  /** By source and route, in this order. Deliveries have an empty route. */
  sums: (Counts & { source: string; route: string })[];
}

/** Makes a chart whose points are `stepMs` apart: a minute, an hour or a day. */
export function chartOf(
  { points, sums }: Stats,
  { since, until }: Pick<StatRequest, "since" | "until">,
  stepMs: number,
): Chart {
  const byTime = Map.groupBy(points, ({ at }) => at - (at % stepMs));
  const times: number[] = [];
  for (let at = since - (since % stepMs); at < until; at += stepMs) times.push(at);
  const byName = Map.groupBy(sums, ({ source, route }) => JSON.stringify([source, route]));
  return {
    points: times.map((at) => ({ at, ...summed(byTime.get(at) ?? []) })),
    total: summed(points),
    sums: [...byName.values()].map((rows) => {
      const { source, route } = rows[0] as Stats["sums"][number];
      return { source, route, ...countsOf(rows) };
    }),
  };
}

function countsOf(rows: readonly (Pick<StatRow, "outcome" | "count"> & { slot?: number })[]): Counts {
  const counts = { ...NO_COUNTS };
  for (const { outcome, count, slot = 0 } of rows) if (slot === 0) counts[outcome] += count;
  return counts;
}

const NO_COUNTS = Object.fromEntries(OUTCOMES.map((outcome) => [outcome, 0])) as Counts;

function summed(rows: Stats["points"]): Counts & { latency: Latency | null } {
  return { ...countsOf(rows), latency: latencyOf(rows) };
}

function latencyOf(rows: readonly Pick<StatRow, "slot" | "count">[]): Latency | null {
  const slots = new Map<number, number>();
  for (const { slot, count } of rows) if (slot > 0) slots.set(slot, (slots.get(slot) ?? 0) + count);
  if (slots.size === 0) return null;
  const sorted = [...slots].sort(([a], [b]) => a - b);
  return { p50: quantile(sorted, 0.5), p95: quantile(sorted, 0.95), p99: quantile(sorted, 0.99) };
}

/** A quantile of values that are spread evenly within each class. */
function quantile(slots: readonly (readonly [slot: number, count: number])[], share: number): number {
  let rank = share * slots.reduce((sum, [, count]) => sum + count, 0);
  for (const [slot, count] of slots) {
    const { from, to } = boundsOf(slot);
    if (rank <= count) return Math.round(from + (rank / count) * (to - from));
    rank -= count;
  }
  return 0;
}
