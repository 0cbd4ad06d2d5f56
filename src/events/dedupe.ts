import { hash } from "node:crypto";
import { DIGEST_PREFIX } from "./event.ts";
import { numbered } from "./free-number.ts";
import type { Appended, NewEvent } from "./store.ts";

// Shared objects: structured clone sends a repeated object to another thread once, and then refers to it.
export const NEW: Appended = Object.freeze({ duplicate: false, conflict: false });
export const DUPLICATE: Appended = Object.freeze({ duplicate: true, conflict: false });
export const CONFLICT: Appended = Object.freeze({ duplicate: true, conflict: true });

/** The event that is stored under the id of a delivery. */
export interface StoredEvent {
  id: number;
  /** The SHA-256 of the payload in hex if the id is unsigned. Else null. */
  bytesSha256: string | null;
  /** Whether it has the bytes of the delivery. Null once its own are removed or erased. */
  hasSameBytes: boolean | null;
}

/** The stored event that has the bytes of a delivery. */
export interface SameBytes {
  id: number;
  eventId: string;
  receivedAt: number;
}

/**
 * What a delivery is whose id is taken: a duplicate, a conflict with the stored event, or to be stored under its
 * digest.
 */
export type Decision = { is: "duplicate"; of?: SameBytes } | { is: "conflict"; with: number } | { is: "new bytes" };

/**
 * Decides on a delivery whose id is taken. A signed one is a duplicate, or a conflict when the bytes differ. With an
 * unsigned id the bytes decide: `same` has those of the delivery.
 */
export function decideTaken(event: NewEvent, stored: StoredEvent | undefined, same: SameBytes | undefined): Decision {
  if (event.bytesSha256 !== null) return same ? { is: "duplicate", of: same } : { is: "new bytes" };
  if (!stored || stored.hasSameBytes) return { is: "duplicate" };
  // An attacker can resend a captured body under any unsigned id. That must not keep the genuine event out.
  if (stored.bytesSha256 !== null) return { is: stored.bytesSha256 === digestOf(event) ? "duplicate" : "new bytes" };
  return stored.hasSameBytes === null ? { is: "duplicate" } : { is: "conflict", with: stored.id };
}

/** Whether a delivery is a duplicate in a source in which only the same bytes within a time are one. */
export const isWithin = (event: NewEvent, same: SameBytes, sameWithinMs: number) =>
  event.receivedAt - same.receivedAt < sameWithinMs;

/** The SHA-256 of a payload in hex. */
export const digestOf = ({ bytesSha256, payload }: NewEvent) => bytesSha256 ?? hash("sha256", payload);

/** The id of an event that is stored under its digest. */
export const idByBytes = (event: NewEvent) => DIGEST_PREFIX + digestOf(event);

/** A duplicate by its bytes of the event with this id. `isRepeat`: it is kept beside the event. */
export function duplicateOf(delivery: NewEvent, eventId: string, isRepeat: boolean): Appended {
  if (eventId === delivery.eventId) return DUPLICATE;
  return { ...DUPLICATE, ...(isRepeat && { repeat: true }), eventId };
}

/**
 * The number of repeats that are kept of an event: the newest ones. Each needs a new id, and anybody can make one up.
 */
export const MAX_REPEATS = 100;

/**
 * Whether a delivery brings another id than the stored event that has its bytes. Without an id it has that of its
 * bytes.
 */
export function bringsOtherId(delivery: NewEvent, storedId: string): boolean {
  const { eventId, bytesSha256, sameWithinMs } = delivery;
  if (eventId === storedId || eventId === `${DIGEST_PREFIX}${bytesSha256}`) return false;
  return sameWithinMs === null || !isNumbered(storedId, eventId);
}

/** Whether an id is another one with a number behind it. */
function isNumbered(id: string, of: string): boolean {
  const number = Number(id.slice(of.length + 1));
  return Number.isSafeInteger(number) && id === numbered(of, number);
}
