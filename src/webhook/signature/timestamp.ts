import type { TimeUnit } from "./schemes.ts";

const FORMS: Record<TimeUnit, RegExp> = {
  // Without leading zeros: they could belong to the text before.
  s: /^(?:0|[1-9][0-9]{0,11})$/,
  ms: /^(?:0|[1-9][0-9]{0,14})$/,
  iso: /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?(?:Z|[+-][0-9]{2}:?[0-9]{2})$/,
  http: /^[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT$/,
};

/** Reads a timestamp. Returns Unix milliseconds, or null if it does not have the form of the unit. */
export function parseTimestamp(text: string, unit: TimeUnit): number | null {
  if (!FORMS[unit].test(text)) return null;
  if (unit === "s") return Number(text) * 1000;
  if (unit === "ms") return Number(text);
  // Twitch sends nanoseconds; a date holds milliseconds.
  const ms = Date.parse(text.replace(/(\.[0-9]{3})[0-9]+/, "$1"));
  return Number.isNaN(ms) ? null : ms;
}

/** Writes a time in Unix milliseconds in the form of the unit. */
export function formatTimestamp(ms: number, unit: TimeUnit): string {
  if (unit === "s") return String(Math.floor(ms / 1000));
  if (unit === "ms") return String(ms);
  return unit === "iso" ? new Date(ms).toISOString() : new Date(ms).toUTCString();
}
