import { parseDurationMs } from "../config/units.ts";
import { OperatorError } from "../errors.ts";

/** Unix milliseconds as ISO 8601. */
export function isoTime<T extends number | null>(ms: T): T extends null ? null : string {
  return (ms === null ? null : new Date(ms).toISOString()) as T extends null ? null : string;
}

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

const ISO_TIME =
  /^[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?$/;

/** Parses an option that is a time, or a duration before now, to Unix milliseconds. Throws {@link OperatorError}. */
export function parseTime(option: string, text: string, now: number): number {
  const ago = parseDurationMs(text);
  if (ago !== null) return now - ago;
  // UTC is the default, as in all output. Date.parse reads a date as UTC, but a date with a time as local time.
  const withZone = /[T ][0-9:.]+$/.test(text) ? `${text}Z` : text;
  const time = ISO_TIME.test(text) ? Date.parse(withZone) : Number.NaN;
  // Date.parse reads 31 February as 3 March.
  const day = Number(text.slice(8, 10));
  if (Number.isNaN(time) || new Date(`${text.slice(0, 10)}T00:00:00Z`).getUTCDate() !== day)
    throw new OperatorError({
      found: `${option} is not usable`,
      remedy: "give a duration or a time, e.g. 1h or 2026-01-31T12:00:00Z",
    });
  return time;
}
