import type { Arrival, EventPayload, EventStore } from "./store.ts";

/** Which events a listener hears. */
export interface ListenFilter {
  source?: string | undefined;
  takesType?: ((type: string) => boolean) | undefined;
  /** Whether a route takes an event. Undefined: every event. */
  takes?: ((event: Arrival & EventPayload) => boolean) | undefined;
}

/** An event that a listener hears. The cursor is behind it. The content is null if it is unreadable or removed. */
export interface HeardEvent extends Arrival {
  cursor: string;
  content: EventPayload | null;
}

/** What a listener hears at once. */
interface Heard {
  events: HeardEvent[];
  /** Behind all of them, and behind events that the filter leaves out. */
  cursor: string;
  /** The store has lost events that the cursor was behind. It went on with those received after that one. */
  isReset: boolean;
}

/** The events of a store as a listener reads them. */
export type ListenedStore = Pick<EventStore, "arrivals" | "arrivalsSince" | "payloads">;

/** The number of an event, and when the newest one up to it was received: it tells more if the store loses events. */
export interface ListenPosition {
  event: number;
  receivedAt: number;
}

/** A cursor of {@link hear}. */
export const LISTEN_CURSOR = /^[0-9]{1,15}-[0-9]{1,15}$/;

/** The cursor of a position. */
export const cursorOf = ({ event, receivedAt }: ListenPosition) => `${event}-${receivedAt}`;

/** The position of a cursor. */
export function positionOf(cursor: string): ListenPosition {
  const [event = 0, receivedAt = 0] = cursor.split("-").map(Number);
  return { event, receivedAt };
}

/** When the newest of some events was received; never before a time. */
export const newestOf = (items: readonly Arrival[], before: number) =>
  items.reduce((newest, { receivedAt }) => Math.max(newest, receivedAt), before);

/** The cursor of a listener that begins now, or with the events received since a time. Times are Unix milliseconds. */
export async function beginListening(
  store: Pick<ListenedStore, "arrivalsSince">,
  since: number | null,
  now: number,
): Promise<string> {
  return cursorOf({ event: await store.arrivalsSince(since), receivedAt: since ?? now });
}

/** Whether a filter lets an event pass, as far as that shows without the content. */
export const mayHear = ({ source, takesType }: ListenFilter, event: Arrival) =>
  (source === undefined || event.source === source) && (takesType === undefined || takesType(event.type));

const PAGE = 500;

/** The events behind a cursor. */
async function arrivalsBehind(store: ListenedStore, { event, receivedAt }: ListenPosition) {
  const found = await store.arrivals(event, PAGE);
  if (found.end >= event) return { ...found, isReset: false };
  const first = await store.arrivalsSince(receivedAt + 1);
  return { ...(await store.arrivals(first, PAGE)), isReset: true };
}

/** Hears the next events behind a cursor, oldest first, at most `limit`. There may be more if the cursor has moved. */
export async function hear(store: ListenedStore, cursor: string, filter: ListenFilter, limit: number): Promise<Heard> {
  const from = positionOf(cursor);
  const { items, end, isReset } = await arrivalsBehind(store, from);
  const candidates = items.filter((item) => mayHear(filter, item));
  const chosen = candidates.slice(0, limit);
  const contents = chosen.length === 0 ? [] : await store.payloads(chosen.map(({ id }) => id));
  const read = chosen.slice(0, contents.length);
  const events = read.map((item, index) => {
    const newest = Math.max(from.receivedAt, item.receivedAt);
    return { ...item, cursor: cursorOf({ event: item.id, receivedAt: newest }), content: contents[index] ?? null };
  });
  const last = events.at(-1);
  const isCut = last !== undefined && read.length < candidates.length;
  return {
    events: events.filter(({ content, ...event }) => passes(filter, event, content)),
    cursor: isCut ? last.cursor : cursorOf({ event: end, receivedAt: newestOf(items, from.receivedAt) }),
    isReset,
  };
}

/** An event that cannot be read passes: a listener must not miss it silently. */
function passes({ takes }: ListenFilter, event: Arrival, content: EventPayload | null): boolean {
  return takes === undefined || content === null || takes({ ...event, ...content });
}

/** Counts the events behind a cursor that a listener would hear, until they are more than `most`. */
export async function countWaiting(
  store: ListenedStore,
  cursor: string,
  filter: ListenFilter,
  most: number,
): Promise<number> {
  let position = cursor;
  for (let count = 0; ; ) {
    const heard = filter.takes ? await hear(store, position, filter, PAGE) : await skim(store, position, filter);
    count += heard.events.length;
    if (count > most || heard.cursor === position) return count;
    position = heard.cursor;
  }
}

/** Like {@link hear}, without contents. */
async function skim(store: ListenedStore, cursor: string, filter: ListenFilter) {
  const from = positionOf(cursor);
  const { items, end } = await arrivalsBehind(store, from);
  const events = items.filter((item) => mayHear(filter, item));
  return { events, cursor: cursorOf({ event: end, receivedAt: newestOf(items, from.receivedAt) }) };
}
