import { isoTime } from "../lib/iso-time.ts";

const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1000],
] as const;

/** A time relative to now, in its largest unit: `5 min ago`, `in 2 h`. Takes Unix milliseconds. */
export function relativeTime(ms: number, now: number): string {
  const distance = Math.abs(now - ms);
  const [unit, size] = UNITS.find(([, unitMs]) => distance >= unitMs) ?? ["s", 1000];
  const length = `${Math.floor(distance / size)} ${unit}`;
  return ms > now ? `in ${length}` : `${length} ago`;
}

/** Returns the format for times: exact, or relative to now. */
export function timeFormat(isExact: boolean | undefined, now: number): (ms: number) => string {
  return isExact ? isoTime : (ms) => relativeTime(ms, now);
}

/** When an unavailable target is tried next. `at` is null while a probe is running. */
export function probeText(at: number | null, now: number): string {
  if (at === null) return "a probe is running";
  // An overdue probe waits for an event that is due.
  if (at <= now) return "the next event is the probe";
  return `next probe in ${Math.ceil((at - now) / 1000)} s`;
}
