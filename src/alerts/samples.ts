import { minuteOf, type RouteAttempts } from "../events/stats.ts";

/** What was measured at a time (Unix milliseconds). */
export interface AlertSample {
  at: number;
  queued: number;
  attempts: readonly RouteAttempts[];
}

/** Earlier measurements, the oldest first. */
export type Samples = readonly AlertSample[];

/** Measurements with one more, without those that a window of this length no longer needs. */
export function withSample(samples: Samples, sample: AlertSample, keptMs: number): Samples {
  // One more is kept: it tells what was before the window.
  const first = samples.findLastIndex(({ at }) => at <= sample.at - keptMs);
  // The clock may have been set back.
  const kept = samples.slice(Math.max(0, first)).filter(({ at }) => at < sample.at);
  // Of earlier minutes the store knows the end.
  const attempts = sample.attempts.filter(({ at }) => at === minuteOf(sample.at));
  return [...kept, { ...sample, attempts }];
}

// A queue that grows while it is worked on goes up and down from one measurement to the next.
const PARTS = 5;

/** Whether the queue has grown for this long. Null if it has not been measured for so long. */
export function isGrowing(samples: Samples, windowMs: number): boolean | null {
  const until = samples.at(-1)?.at ?? 0;
  const first = samples.findLastIndex(({ at }) => at <= until - windowMs);
  if (first < 0) return null;
  const queued = samples.slice(first).map((sample) => sample.queued);
  const parts = Math.min(PARTS, queued.length);
  const means = Array.from({ length: parts }, (_, part) => {
    const some = queued.slice(
      Math.floor((part * queued.length) / parts),
      Math.floor(((part + 1) * queued.length) / parts),
    );
    return some.reduce((sum, count) => sum + count, 0) / some.length;
  });
  return parts > 1 && means.every((mean, part) => part === 0 || mean > (means[part - 1] ?? 0));
}

/**
 * The attempts of each route since a time. The store counts by the minute: a sample tells what of the first one is
 * earlier.
 */
export function attemptsWithin(
  samples: Samples,
  attempts: readonly RouteAttempts[],
  since: number,
): Omit<RouteAttempts, "at">[] {
  const minute = minuteOf(since);
  const before = samples.findLast(({ at }) => at <= since && at >= minute)?.attempts ?? [];
  const earlier = before
    .filter(({ at }) => at === minute)
    .map(({ failed, all, ...row }) => ({ ...row, failed: -failed, all: -all }));
  const rows = [...attempts.filter(({ at }) => at >= minute), ...earlier];
  return [...Map.groupBy(rows, ({ route }) => route)].map(([route, own]) => ({
    route,
    failed: own.reduce((sum, { failed }) => sum + failed, 0),
    all: own.reduce((sum, { all }) => sum + all, 0),
  }));
}
