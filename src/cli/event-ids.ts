import { printData } from "./output.ts";
import { withStores } from "./stores.ts";

const NEWEST = 100;
// Ids that a shell reads as one word, without special characters.
const PLAIN_ID = /^[A-Za-z0-9._:@+-]+$/;

/** Prints the ids of the newest events, one per line, for shell completion. */
export function runEventIds(): Promise<void> {
  return withStores(async ({ events }) => {
    const { items } = await events.list({ limit: NEWEST });
    for (const { eventId } of items) if (PLAIN_ID.test(eventId)) printData(eventId);
  });
}
