/**
 * Reads a `Retry-After` (RFC 9110, 10.2.3), which is seconds or a date, in milliseconds; undefined when it is neither.
 * Some servers send a fraction of a second.
 */
export function readRetryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^[0-9]+(?:\.[0-9]+)?$/.test(value)) return Number(value) * 1000;
  // The date of `asctime` has no zone, and means UTC (RFC 9110, 5.6.7).
  const time = Date.parse(/ [0-9]{4}$/.test(value) ? `${value} GMT` : value);
  return Number.isNaN(time) ? undefined : Math.max(0, time - now);
}
