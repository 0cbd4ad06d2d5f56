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

/** Whether an event was read from an API, and its source gives such events to no route. */
export function isKeptFromRoutes(
  { secret, source }: { secret: string; source: string },
  sources: readonly { name: string; catchUp?: { routes: boolean } }[],
): boolean {
  return originOf(secret) === "api" && !takesRoutes(source, sources);
}

/** Whether a source gives events that nobody signed to routes. */
export function takesRoutes(
  source: string,
  sources: readonly { name: string; catchUp?: { routes: boolean } }[],
): boolean {
  return sources.some(({ name, catchUp }) => name === source && catchUp?.routes === true);
}

/** An event before fan-out, from a row with its secret; null if its content is gone. */
export function pendingOf({ secret, ...event }: PendingEvent & { secret: string | null }): PendingEvent {
  return secret !== null && originOf(secret) === "api" ? { ...event, isCaptured: true } : event;
}
