import { DAY_MS, HOUR_MS, MINUTE_MS } from "../lib/durations.ts";
import { type Chart, chartOf, MINUTES_KEPT_MS } from "./stats.ts";
import type { EventStore } from "./store.ts";

export const STEPS = ["minute", "hour", "day"] as const;
export type Step = (typeof STEPS)[number];

/** Asks for a chart. Times are Unix milliseconds. */
interface ChartRequest {
  /** By default a day before `until`. */
  since?: number | undefined;
  /** By default now. */
  until?: number | undefined;
  /** By default the shortest one that does not make too many points. */
  step?: Step | undefined;
  source?: string | undefined;
  route?: string | undefined;
}

/** What a chart shows, with every default. `since` is the beginning of a step. */
interface ChartRange {
  since: number;
  until: number;
  step: Step;
}

const STEP_MS: Record<Step, number> = { minute: MINUTE_MS, hour: HOUR_MS, day: DAY_MS };
const MAX_POINTS = 3000;
// Charts with more points are hard to read.
const USUAL_POINTS = { minute: 360, hour: 45 * 24 };

/** Returns the range of a request, or why it cannot be shown. */
export function chartRange(
  { until: wanted, since: from, step: given }: ChartRequest,
  now: number,
): ChartRange | { fault: string; member: "since" | "step" } {
  const until = wanted ?? now;
  const since = from ?? until - DAY_MS;
  if (since >= until) return { member: "since", fault: "must be before until" };
  const step = given ?? usualStep(since, until, now);
  if (step === "minute" && since < now - MINUTES_KEPT_MS - TOLERANCE_MS)
    return { member: "step", fault: "must be hour or day: minutes are kept for two days" };
  const stepMs = STEP_MS[step];
  const start = since - (since % stepMs);
  if ((until - start) / stepMs > MAX_POINTS)
    return { member: "step", fault: `makes more than ${MAX_POINTS} points: choose a longer one` };
  return { since: start, until, step };
}

/** A range begins with a whole minute, and may have been asked for some seconds ago. */
const TOLERANCE_MS = 2 * MINUTE_MS;

function usualStep(since: number, until: number, now: number): Step {
  const spanMs = until - since;
  if (spanMs <= USUAL_POINTS.minute * MINUTE_MS && since >= now - MINUTES_KEPT_MS) return "minute";
  return spanMs <= USUAL_POINTS.hour * HOUR_MS ? "hour" : "day";
}

/** Reads the chart of a range. */
export async function readChart(
  events: Pick<EventStore, "stats">,
  { since, until, step }: ChartRange,
  { source, route }: Pick<ChartRequest, "source" | "route">,
): Promise<Chart> {
  const chosen = { ...(source !== undefined && { source }), ...(route !== undefined && { route }) };
  const stats = await events.stats({ since, until, step: step === "minute" ? "minute" : "hour", ...chosen });
  return chartOf(stats, { since, until }, STEP_MS[step]);
}
