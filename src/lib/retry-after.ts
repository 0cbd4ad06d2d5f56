/**
 * Reads a `Retry-After` (RFC 9110, 10.2.3), which is seconds or a date, in milliseconds; undefined when it is neither.
 * Some servers send a fraction of a second.
 */
export function readRetryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^[0-9]{1,9}(?:\.[0-9]+)?$/.test(value)) return Number(value) * 1000;
  const time = Date.parse(value);
  return Number.isNaN(time) ? undefined : Math.max(0, time - now);
}
