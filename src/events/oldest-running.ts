import type { EventStore } from "./store.ts";

const PAGE = 500;
// One look takes a few milliseconds for each page. The next one goes on.
const PAGES = 4;
/** Behind every event. */
const END = 999_999_999_999_999;

/**
 * Finds when the oldest queued event whose route is not paused was received; null if there is none. Events of paused
 * routes before it are looked at once, not at each call. Returns undefined while it is still looking.
 */
export function oldestOfRunning(
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
