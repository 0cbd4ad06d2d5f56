import { type ReadonlySignal, signal } from "@preact/signals";
import type { EventItem, EventsPage } from "../answers.ts";

/** One page of events, newest first. */
export type LoadPage = (
  page: { cursor?: string; limit: number },
  signal: AbortSignal,
) => Promise<Pick<EventsPage, "items" | "cursor">>;

/** A list of events that grows at its end, and with `refresh` at its beginning. */
export interface EventList {
  rows: ReadonlySignal<readonly EventItem[]>;
  /** New events that are not shown yet. */
  waiting: ReadonlySignal<readonly EventItem[]>;
  /** When each event was shown that came after the first page, by its key. Unix milliseconds. */
  arrivals: ReadonlyMap<string, number>;
  /** Whether there may be older events. */
  hasMore: ReadonlySignal<boolean>;
  isLoading: ReadonlySignal<boolean>;
  failure: ReadonlySignal<unknown>;
  /** Loads a page. A search goes on until the page is full, nothing is left, or `stop` is called. */
  loadMore(): Promise<void>;
  stop(): void;
  /** Looks for new events. They are shown with those that wait, or with `hold` they wait, too. Returns their number. */
  refresh(hold: boolean): Promise<number>;
  showWaiting(): void;
}

const PAGE = 50;

/** What tells events apart. */
export const eventKey = ({ source, eventId }: Pick<EventItem, "source" | "eventId">) =>
  JSON.stringify([source, eventId]);

/** Creates an empty list. `now` is in Unix milliseconds. */
export function createEventList(load: LoadPage, now: () => number): EventList {
  const rows = signal<readonly EventItem[]>([]);
  const waiting = signal<readonly EventItem[]>([]);
  const arrivals = new Map<string, number>();
  const hasMore = signal(true);
  const isLoading = signal(false);
  const failure = signal<unknown>(null);
  let cursor: string | undefined;
  /** Set if events are missing between those that wait and the list. */
  let gap: { cursor: string } | null = null;
  let running = new AbortController();

  async function loadPages(signal: AbortSignal): Promise<void> {
    const wanted = rows.value.length + PAGE;
    while (hasMore.value && rows.value.length < wanted && !signal.aborted) {
      const page = await load({ ...(cursor !== undefined && { cursor }), limit: PAGE }, signal);
      if (signal.aborted) return;
      rows.value = [...rows.value, ...unknownOf(page.items, rows.value)];
      cursor = page.cursor ?? undefined;
      hasMore.value = page.cursor !== null;
    }
  }

  function show(fresh: readonly EventItem[]): void {
    for (const event of fresh) arrivals.set(eventKey(event), now());
    rows.value = gap === null ? [...fresh, ...rows.value] : fresh;
    if (gap !== null) {
      cursor = gap.cursor;
      hasMore.value = true;
    }
    gap = null;
    waiting.value = [];
  }

  return {
    rows,
    waiting,
    arrivals,
    hasMore,
    isLoading,
    failure,
    async loadMore() {
      if (isLoading.value) return;
      running = new AbortController();
      isLoading.value = true;
      failure.value = null;
      try {
        await loadPages(running.signal);
      } catch (error) {
        if (!running.signal.aborted) failure.value = error;
      } finally {
        isLoading.value = false;
      }
    },
    stop: () => running.abort(),
    async refresh(hold) {
      // Nothing is new before the first page is there.
      if (isLoading.value && rows.value.length === 0) return 0;
      const page = await load({ limit: PAGE }, new AbortController().signal).catch((error: unknown) => {
        failure.value = error;
      });
      if (!page) return 0;
      failure.value = null;
      rows.value = updated(rows.value, page.items);
      const fresh = unknownOf(page.items, [...waiting.value, ...rows.value]);
      const isCut = page.cursor !== null && fresh.length > 0 && fresh.length === page.items.length;
      if (isCut) gap = { cursor: page.cursor as string };
      waiting.value = isCut ? page.items : [...fresh, ...waiting.value];
      if (!hold && waiting.value.length > 0) show(waiting.value);
      return fresh.length;
    },
    showWaiting: () => show(waiting.value),
  };
}

function unknownOf(items: readonly EventItem[], known: readonly EventItem[]): EventItem[] {
  const keys = new Set(known.map(eventKey));
  return items.filter((item) => !keys.has(eventKey(item)));
}

function updated(rows: readonly EventItem[], items: readonly EventItem[]): readonly EventItem[] {
  const byKey = new Map(items.map((item) => [eventKey(item), item]));
  return rows.map((row) => byKey.get(eventKey(row)) ?? row);
}
