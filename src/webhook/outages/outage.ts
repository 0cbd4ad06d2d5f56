import { MINUTE_MS } from "../../lib/durations.ts";
/**
 * Why deliveries could not be taken. `stopped`: no server ran, or it was suspended. `restart`: a server was stopped in
 * order, and one ran again within `MAX_RESTART_MS`. `store`: the store did not answer or refused writes. `disk`: too
 * little space was free. `queue`: too many deliveries waited, or old events did.
 */
export type OutageKind = "stopped" | "restart" | "store" | "disk" | "queue";

/** A time in which deliveries could not be taken, in Unix milliseconds. */
export interface Outage {
  kind: OutageKind;
  from: number;
  to: number;
}

/** How often a server writes a heartbeat. */
export const BEAT_EVERY_MS = 5000;

/** Heartbeats that are no further apart are no outage: one may take 8 seconds, and several servers take turns. */
export const MIN_GAP_MS = 3 * BEAT_EVERY_MS;

/**
 * The longest planned restart. Of the providers that publish a schedule, most repeat no sooner for the first time, and
 * all but one still repeat after a minute.
 */
export const MAX_RESTART_MS = 15_000;

/** Refusals of the same kind that are no further apart are one outage. */
const JOINED_WITHIN_MS = MINUTE_MS;

/** An outage with another time of the same kind; null if they are too far apart to be one. */
export function joined(outage: Outage, { kind, from, to }: Outage): Outage | null {
  if (kind !== outage.kind) return null;
  if (from > outage.to + JOINED_WITHIN_MS || to < outage.from - JOINED_WITHIN_MS) return null;
  return { kind, from: Math.min(from, outage.from), to: Math.max(to, outage.to) };
}

/** Outages in order, those of several servers at one time as one. */
export function merged(outages: readonly Outage[]): Outage[] {
  const result: Outage[] = [];
  for (const outage of outages.toSorted((one, other) => one.from - other.from)) {
    const index = result.findLastIndex((known) => joined(known, outage) !== null);
    const known = result[index];
    // A restart soon after another is an outage of its own.
    const isOfServer = outage.kind === "stopped" || outage.kind === "restart";
    if (known === undefined || (isOfServer && outage.from > known.to)) result.push(outage);
    else result[index] = joined(known, outage) ?? outage;
  }
  return result;
}
