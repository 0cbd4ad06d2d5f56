import type { JobName } from "./job.ts";

/**
 * How the answer of a shadow compares with that of its route. `failed`: the shadow has not answered. `skipped`: they
 * were not compared, because too many events waited, or an answer was too long.
 */
export type ComparisonOutcome = "same" | "different" | "failed" | "skipped";

/** Where two answers differ first, with the beginnings of what is there. */
export interface Difference {
  /** `status`, `body`, or `body` and a path. `answer` if the shadow has none: `found` is then the reason. */
  place: string;
  expected: string;
  found: string;
}

/** One comparison of the answers to an event. `route` is the shadow. */
export interface Comparison extends JobName {
  /** Unix milliseconds. */
  at: number;
  outcome: ComparisonOutcome;
  difference: Difference | null;
}

/** The comparisons of a shadow by outcome. */
export type ComparisonCounts = Record<ComparisonOutcome, number>;

/** A difference that is kept, with its event. */
export interface KeptDifference extends Difference {
  source: string;
  eventId: string;
  type: string;
  at: number;
}

/** The differences that are kept of each shadow: those of the newest events. */
export const MAX_DIFFERENCES = 100;

/** The counts of a shadow from those of each outcome that it has. */
export function comparisonCounts(rows: readonly { outcome: ComparisonOutcome; count: number }[]): ComparisonCounts {
  const counts = { same: 0, different: 0, failed: 0, skipped: 0 };
  for (const { outcome, count } of rows) counts[outcome] = Math.max(0, count);
  return counts;
}

/** A difference as it is stored, with its event. `difference` is JSON, or encrypted. */
export interface DifferenceRow extends Omit<KeptDifference, keyof Difference> {
  event: number;
  difference: string;
}

/** A kept difference by its outcome. */
interface KeptOutcome {
  event: number;
  route: string;
  outcome: ComparisonOutcome;
}

/**
 * What a batch adds to the counts, in one order for every server. A newer comparison of an event, as after a replay,
 * takes away the difference that was kept. So the counts say what the list says.
 */
export function summedComparisons(
  batch: readonly Comparison[],
  kept: readonly KeptOutcome[],
): { route: string; outcome: ComparisonOutcome; count: number }[] {
  const outcomes = new Map(kept.map(({ event, route, outcome }) => [JSON.stringify([event, route]), outcome]));
  const sums = new Map<string, number>();
  const add = (route: string, outcome: ComparisonOutcome, count: number) => {
    const key = JSON.stringify([route, outcome]);
    sums.set(key, (sums.get(key) ?? 0) + count);
  };
  for (const { event, route, outcome, difference } of batch) {
    const key = JSON.stringify([event, route]);
    const earlier = outcomes.get(key);
    if (earlier !== undefined) add(route, earlier, -1);
    add(route, outcome, 1);
    if (difference === null) outcomes.delete(key);
    else outcomes.set(key, outcome);
  }
  return [...sums.keys()].sort().map((key) => {
    const [route, outcome] = JSON.parse(key) as [string, ComparisonOutcome];
    return { route, outcome, count: sums.get(key) ?? 0 };
  });
}
