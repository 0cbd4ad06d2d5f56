import type { PendingEvent } from "./store.ts";

/**
 * The beginning of the `secret` of an event that nobody signed: it was read from the API of its provider, whose host
 * follows. The names of secrets begin otherwise.
 */
export const CAPTURED_PREFIX = "api:";

/** How an event came: read from an API, or delivered. */
export function originOf(secret: string): "api" | "delivery" {
  return secret.startsWith(CAPTURED_PREFIX) ? "api" : "delivery";
}

/** An event before fan-out, from a row with its secret; null if its content is gone. */
export function pendingOf({ secret, ...event }: PendingEvent & { secret: string | null }): PendingEvent {
  return secret !== null && originOf(secret) === "api" ? { ...event, isCaptured: true } : event;
}
