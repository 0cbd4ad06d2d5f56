import { DAY_MS } from "../lib/durations.ts";

// What one answer or one step of a store may hold. Each also bounds for how long deliveries wait on SQLite.

/**
 * The bytes of payloads and headers that a claim, a step of fan-out or a read of held deliveries returns at once, in
 * 0.1 s. If the first payload alone has more, it is returned by itself.
 */
export const MAX_PAYLOAD_BYTES = 8 * 1024 * 1024;

/**
 * The payloads of an event's conflicts. A sender that gives all its events one id creates a conflict with each: the
 * first ones are enough to diagnose that. One body of the largest size fits.
 */
export const MAX_CONFLICT_BYTES = 64 * 1024 * 1024;

/** The conflicts of an event that one answer has, the oldest first, and the repeats. */
export const MAX_SHOWN_REPEATS = 5000;

/** The events of a page of a replay or a discard of many: deliveries wait for it, 10 ms. */
export const EVENTS_PER_PAGE = 500;

/** The jobs that a page of a replay or a discard of many compares with its filter. */
export const MAX_COMPARED_JOBS = 2000;

/** The events, or ids, that a page of a purge looks at: 2 ms. */
export const MAX_COMPARED_EVENTS = 1000;

/** A longer silence of an alert, or pause with an end, is a mistake. */
export const MAX_FOR_MS = 365 * DAY_MS;

/** The last character of Unicode. Behind the beginning of a text it is the end of all texts that begin so. */
export const LAST_CHARACTER = "\u{10ffff}";
