import { parseDurationMs } from "../config/units.ts";
import { OperatorError } from "../errors.ts";
import { MAX_FOR_MS } from "../events/limits.ts";
import { canonicalAddress } from "../http/proxies.ts";
import { isoTime, parseIsoTime } from "../lib/iso-time.ts";
import { nearest } from "../lib/nearest.ts";

/**
 * Reads an option that is a whole number from 1 to `most`, which is below ten million. Throws {@link OperatorError}.
 */
export function wholeNumber(option: string, text: string, most: number): number {
  const number = /^[0-9]{1,7}$/.test(text) ? Number(text) : 0;
  if (number >= 1 && number <= most) return number;
  throw new OperatorError({ found: `${option} is not usable`, remedy: `give a whole number from 1 to ${most}` });
}

const MAX_PER_SECOND = 100_000;

/** Reads an option that is a rate, such as `50/s` or `50`. */
export function perSecond(option: string, text: string): number {
  return wholeNumber(option, text.replace(/\/s$/, ""), MAX_PER_SECOND);
}

/** Parses an option that is a time, or a duration before now, to Unix milliseconds. Throws {@link OperatorError}. */
export function parseTime(option: string, text: string, now: number): number {
  const ago = parseDurationMs(text);
  const time = ago === null ? parseIsoTime(text) : now - ago;
  if (time !== null) return time;
  throw new OperatorError({
    found: `${option} is not usable`,
    remedy: "give a duration or a time, e.g. 1h or 2026-01-31T12:00:00Z",
  });
}

/** Bounds of `--for` where a silence or a pause ends by itself. */
export const FOR_BOUNDS = { leastMs: 1, mostMs: MAX_FOR_MS, text: "of at most 365d, e.g. 2h" };

/** Reads an option that is a duration. `bounds` are in words, with an example. Throws {@link OperatorError}. */
export function durationOption(
  option: string,
  text: string,
  bounds: { leastMs: number; mostMs: number; text: string },
): number {
  const ms = parseDurationMs(text);
  if (ms !== null && ms >= bounds.leastMs && ms <= bounds.mostMs) return ms;
  throw new OperatorError({ found: `${option} is not usable`, remedy: `give a duration ${bounds.text}` });
}

/** Reads `--address`, an IP address. Throws {@link OperatorError}. */
export function addressOption(text: string | undefined): string | undefined {
  const address = text === undefined ? undefined : canonicalAddress(text);
  if (address !== null) return address;
  const remedy = "give one such as 192.0.2.1 or 2001:db8::1";
  throw new OperatorError({ found: "--address is not an IP address", remedy });
}

/** What to do about a name that does not exist: the one that was probably meant, or else the command that lists all. */
export function remedyForName(name: string, known: readonly string[], list: string): string {
  const meant = nearest(name, known);
  return meant === undefined ? `see ${list}` : `did you mean ${meant}?`;
}

/** The options that select events, in lists and in commands that take many. */
export interface FilterOptions {
  source?: string;
  type?: string;
  since?: string;
  until?: string;
  error?: string;
}

/** Reads the options, as operations take them. Throws an `OperatorError` that names a time that is not usable. */
export function eventConditions({ source, type, since, until, error }: FilterOptions, now: number) {
  return {
    ...(source === undefined ? {} : { source }),
    ...(type === undefined ? {} : { type }),
    ...(since === undefined ? {} : { since: timeOption("--since", since, now) }),
    ...(until === undefined ? {} : { until: timeOption("--until", until, now) }),
    ...(error === undefined ? {} : { error }),
  };
}

/** A time, or a duration before now, as operations take it. Throws {@link OperatorError}. */
export const timeOption = (option: string, text: string, now: number) =>
  isoTime(Math.max(0, parseTime(option, text, now)));
