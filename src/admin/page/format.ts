/** Numbers and times as people of one language write them. */
interface Formats {
  count(value: number): string;
  /** A number that fits into little space, e.g. `12k`. */
  compact(value: number): string;
  percent(share: number): string;
  bytes(value: number): string;
  /** A duration in the largest unit that it has at least one of. */
  duration(ms: number): string;
  ago(at: number, now: number): string;
  /** With the time zone. */
  exact(at: number): string;
  /** The time zone, e.g. `Europe/Madrid, GMT+1`. */
  zone(at: number): string;
  /** The time of a point of a chart whose points are an hour or less, or within days, apart. */
  clock(at: number): string;
  day(at: number): string;
}

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

const UNITS = [
  { name: "day", ms: DAY_MS },
  { name: "hour", ms: HOUR_MS },
  { name: "minute", ms: MINUTE_MS },
  { name: "second", ms: SECOND_MS },
] as const;

const SIZES = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte", "petabyte"];

/** No line ends between a number and its unit. */
const joined = (text: string) => text.replaceAll(" ", "\u00a0");

/** Creates the formats of a locale, e.g. `en-GB`. Times are of `timeZone`, by default that of the browser. */
export function createFormats(locale: string, timeZone?: string): Formats {
  const zone = timeZone === undefined ? {} : { timeZone };
  const number = new Intl.NumberFormat(locale);
  const compact = new Intl.NumberFormat(locale, { notation: "compact", maximumFractionDigits: 1 });
  const percent = new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 1 });
  const relative = new Intl.RelativeTimeFormat(locale, { numeric: "auto", style: "short" });
  const exact = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "long", ...zone });
  const clock = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit", ...zone });
  const day = new Intl.DateTimeFormat(locale, { day: "numeric", month: "short", ...zone });
  const inUnit = (value: number, unit: string, digits: number) => {
    // "24 byte" is what English has for short.
    const unitDisplay = unit === "byte" ? "long" : "short";
    const format = new Intl.NumberFormat(locale, { style: "unit", unit, unitDisplay, maximumFractionDigits: digits });
    return joined(format.format(value));
  };
  return {
    count: (value) => number.format(value),
    compact: (value) => compact.format(value),
    percent: (share) => percent.format(share),
    bytes(value) {
      const power = Math.min(SIZES.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, value)) / 3)));
      return inUnit(value / 1000 ** power, SIZES[power] as string, 1);
    },
    duration(ms) {
      const unit = UNITS.find((candidate) => ms >= candidate.ms);
      if (!unit) return inUnit(Math.max(0, Math.round(ms)), "millisecond", 0);
      const value = ms / unit.ms;
      return inUnit(value < 10 ? Math.floor(value * 10) / 10 : Math.floor(value), unit.name, 1);
    },
    ago(at, now) {
      const pastMs = now - at;
      const unit = UNITS.find((candidate) => Math.abs(pastMs) >= candidate.ms);
      return joined(unit ? relative.format(-Math.trunc(pastMs / unit.ms), unit.name) : relative.format(0, "second"));
    },
    exact: (at) => exact.format(at),
    zone(at) {
      const name = exact.formatToParts(at).find(({ type }) => type === "timeZoneName")?.value ?? "";
      const { timeZone: id } = exact.resolvedOptions();
      return id === name ? id : `${id}, ${name}`;
    },
    clock: (at) => clock.format(at),
    day: (at) => day.format(at),
  };
}
