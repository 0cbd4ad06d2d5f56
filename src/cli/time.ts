import { isoTime } from "../lib/iso-time.ts";

const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1000],
] as const;

/** A time relative to now, in its largest unit: `5 min ago`, `in 2 h`. Takes Unix milliseconds. */
export function relativeTime(ms: number, now: number): string {
  const length = lengthText(Math.abs(now - ms));
  return ms > now ? `in ${length}` : `${length} ago`;
}

function lengthText(ms: number): string {
  const [unit, size] = UNITS.find(([, unitMs]) => ms >= unitMs) ?? ["s", 1000];
  return `${Math.floor(ms / size)} ${unit}`;
}

/** How long a state has lasted: `for 5 min`, or `since` the exact time. */
export function lastingFormat(isExact: boolean | undefined, now: number): (since: number) => string {
  return isExact ? (since) => `since ${isoTime(since)}` : (since) => `for ${lengthText(Math.max(0, now - since))}`;
}

/** Returns the format for times: exact, or relative to now. */
export function timeFormat(isExact: boolean | undefined, now: number): (ms: number) => string {
  return isExact ? isoTime : (ms) => relativeTime(ms, now);
}

/** When an unavailable target is tried next. `at` is null while a probe is running. */
export function probeText(at: number | null, now: number): string {
  if (at === null) return "a probe is running";
  // A probe needs an event that is due.
  if (at <= now) return "the next event that is due tries it";
  return `next probe in ${Math.ceil((at - now) / 1000)} s`;
}
