/** Unix milliseconds as ISO 8601. */
export function isoTime<T extends number | null>(ms: T): T extends null ? null : string {
  return (ms === null ? null : new Date(ms).toISOString()) as T extends null ? null : string;
}

const ISO_TIME =
  /^[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?$/;

/** Parses a date, or a date with a time, to Unix milliseconds. UTC is the default. Returns null for any other text. */
export function parseIsoTime(text: string): number | null {
  // Date.parse reads a date as UTC, but a date with a time as local time.
  const withZone = /[T ][0-9:.]+$/.test(text) ? `${text}Z` : text;
  const time = ISO_TIME.test(text) ? Date.parse(withZone) : Number.NaN;
  // Date.parse reads 31 February as 3 March.
  const day = Number(text.slice(8, 10));
  return Number.isNaN(time) || new Date(`${text.slice(0, 10)}T00:00:00Z`).getUTCDate() !== day ? null : time;
}

/** A time with all digits of its second. */
interface ExactTime {
  /** The whole second, in Unix milliseconds. */
  second: number;
  /** The digits behind it, without zeros at their end. */
  fraction: string;
}

const EXACT_TIME =
  /^([0-9]{4})(-?)([0-9]{2})\2([0-9]{2})(?:[Tt ]([0-9]{2})(:?)([0-9]{2})(?:\6([0-9]{2})(?:[.,]([0-9]+))?)?([Zz]|[+-][0-9]{2}(?::?[0-9]{2})?)?)?$/;

/**
 * Parses a time as programs write it, and keeps all digits of the second. It takes more than {@link parseIsoTime}: the
 * basic form, a comma, small letters, and an offset in hours. A leap second is the second behind it.
 */
export function parseExactTime(text: string): ExactTime | null {
  const parts = EXACT_TIME.exec(text);
  if (parts === null) return null;
  const [, year, hyphen, month, day, hour, , minute, seconds = "00", fraction = "", offset = "Z"] = parts;
  const date = `${year}-${month}-${day}`;
  // Eight digits alone are rather a number.
  if (hour === undefined) return hyphen === "" ? null : exactTime(parseIsoTime(date), "");
  const isLeap = seconds === "60";
  const zone = offset.length === 3 ? `${offset}:00` : offset.toUpperCase();
  const second = parseIsoTime(`${date}T${hour}:${minute}:${isLeap ? "59" : seconds}${zone}`);
  return exactTime(isLeap && second !== null ? second + 1000 : second, fraction);
}

function exactTime(second: number | null, fraction: string): ExactTime | null {
  // Without the lookbehind, many zeros before another digit would take quadratic time.
  return second === null ? null : { second, fraction: fraction.replace(/(?<!0)0+$/, "") };
}

/** Negative if the first time is earlier, 0 if both are the same. */
export function compareTimes(one: ExactTime, other: ExactTime): number {
  if (one.second !== other.second) return one.second - other.second;
  if (one.fraction === other.fraction) return 0;
  return one.fraction < other.fraction ? -1 : 1;
}
