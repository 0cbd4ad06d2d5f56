import { DIGEST_PREFIX } from "./event.ts";
import { numbered } from "./free-number.ts";
import type { NewEvent } from "./store.ts";

/** The number of repeats that are kept of an event: the newest ones. Each needs a new id, and anybody can make one up. */
export const MAX_REPEATS = 100;

/** Whether a delivery brings another id than the stored event that has its bytes. Without an id it has that of its bytes. */
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
