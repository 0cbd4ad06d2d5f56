import { setTimeout as delay } from "node:timers/promises";
import type { ErasedEvent, Remains } from "./erasure.ts";
import type { EventFilter, EventName, EventStore } from "./store.ts";
import type { Untaken } from "./untaken.ts";

/** Selects events to erase. */
export type EraseFilter = Omit<EventFilter, "limit" | "before" | "after">;

/** How events are erased. With `isDryRun` they are only found. */
export interface EraseOptions {
  reason: string;
  now: () => number;
  isDryRun: boolean;
}

/** An erased event in a receipt. `erasedAt` is null in a dry run. */
export interface EraseReceipt extends ErasedEvent {
  erasedAt: number | null;
}

type EraseStore = Pick<EventStore, "list" | "erase">;

/** A search returns as many events as fit into one page. */
const PAGE = 100;

async function eraseOne(store: EraseStore, event: EventName, how: EraseOptions) {
  const { reason, isDryRun } = how;
  const now = how.now();
  const erased = await store.erase(event, { reason, now, isDryRun });
  return erased && { ...erased, erasedAt: isDryRun ? null : now };
}

/** Erases the events of a page of a list. `next` is the cursor of the next page; null on the last page. */
export async function erasePage(
  store: EraseStore,
  filter: EraseFilter,
  how: EraseOptions & { cursor: string | undefined },
): Promise<{ erased: EraseReceipt[]; next: string | null }> {
  const { cursor } = how;
  const { items, older } = await store.list({
    ...filter,
    limit: PAGE,
    ...(cursor === undefined ? {} : { before: cursor }),
  });
  const erased: EraseReceipt[] = [];
  for (const event of items) {
    const receipt = await eraseOne(store, event, how);
    if (receipt) erased.push(receipt);
  }
  return { erased, next: older };
}

/** What became of events that were named. */
interface ErasedNamed<Reason> {
  erased: EraseReceipt[];
  refused: { eventId: string; reason: Reason | Untaken }[];
}

// More sources than have one id.
const MOST_OF_AN_ID = 100;

/** The events with this id, one for each source that has it. Their contents are not read: their key may be missing. */
export async function eventsOfId(
  events: Pick<EventStore, "startingWith">,
  eventId: string,
  source?: string,
): Promise<EventName[]> {
  const found = await events.startingWith(eventId, source, MOST_OF_AN_ID);
  return found.filter((event) => event.eventId === eventId);
}

/** Erases events by id. `find` returns an event, or why it is not taken. */
export async function eraseNamed<Reason extends string>(
  store: EraseStore,
  ids: readonly string[],
  find: (eventId: string) => Promise<EventName | Reason>,
  how: EraseOptions,
): Promise<ErasedNamed<Reason>> {
  const result: ErasedNamed<Reason> = { erased: [], refused: [] };
  for (const eventId of new Set(ids)) {
    const found = await find(eventId);
    if (typeof found === "string") {
      result.refused.push({ eventId, reason: found });
      continue;
    }
    const erased = await eraseOne(store, found, how);
    if (erased) result.erased.push(erased);
    else result.refused.push({ eventId, reason: "is erased" });
  }
  return result;
}

const SWEEPS = 20;
const SWEEP_AGAIN_MS = 50;

/** Removes what is erased from the files of the store. Tries again for a second while a reader needs the log. */
export async function sweep(store: Pick<EventStore, "sweep">): Promise<Remains | null> {
  for (let tries = 1; ; tries++) {
    const remains = await store.sweep();
    if (remains !== "write_ahead_log" || tries === SWEEPS) return remains;
    await delay(SWEEP_AGAIN_MS);
  }
}
