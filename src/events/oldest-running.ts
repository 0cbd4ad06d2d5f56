import type { Backlog, EventStore, RouteRecord } from "./store.ts";

const PAGE = 500;
// One look takes a few milliseconds for each page. The next one goes on.
const PAGES = 4;
/** Behind every event. */
const END = 999_999_999_999_999;

/** When the oldest event was received that a server could process now. Null: there is none. */
type OldestRunning = (
  backlog: Pick<Backlog, "oldestQueuedAt">,
  routes: readonly Pick<RouteRecord, "route" | "queued" | "pausedAt">[] | null,
) => Promise<number | null | "unknown">;

/** Creates the search for the oldest event. Events of paused routes are not old. */
export function createOldestRunning(events: Pick<EventStore, "jobs">): OldestRunning {
  const find = oldestOfRunning(events);
  return async ({ oldestQueuedAt }, routes) => {
    const paused = routes?.filter(({ pausedAt, queued }) => pausedAt !== null && queued > 0);
    if (paused?.length === 0) return oldestQueuedAt;
    const found = paused && (await find(paused.map(({ route }) => route)).catch(() => undefined));
    return found === undefined ? "unknown" : found;
  };
}

/**
 * Finds when the oldest queued event whose route is not paused was received; null if there is none. Events of paused
 * routes before it are looked at once, not at each call. Returns undefined while it is still looking.
 */
function oldestOfRunning(
  events: Pick<EventStore, "jobs">,
): (paused: readonly string[]) => Promise<number | null | undefined> {
  let cursor: string | undefined;
  let known = "";
  return async (paused) => {
    const names = paused.join(" ");
    if (names !== known) cursor = undefined;
    known = names;
    for (let page = 0; page < PAGES; page++) {
      const { items, next } = await events.jobs({ status: "queued" }, { cursor, limit: PAGE });
      const running = items.find(({ route }) => !paused.includes(route));
      if (running) return running.receivedAt;
      if (next === null) return null;
      cursor = `${next.split("-")[0]}-${END}`;
    }
    return undefined;
  };
}
