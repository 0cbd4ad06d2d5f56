import { eachPage } from "../events/counted-pages.ts";
import type { EventStore, OpenJob } from "../events/store.ts";

/** Dead letters of a route with the same error. Times are Unix milliseconds. */
interface ErrorGroup {
  route: string;
  error: string;
  count: number;
  /** When the first and the last of their events were received. */
  oldestAt: number;
  newestAt: number;
  /** The last of their events. */
  eventId: string;
  source: string;
}

// A request ends after this time, and its sender continues with the cursor.
const BUDGET_MS = 3000;
const PAGE = 500;

/** Groups the dead letters by route and error, for a limited time. `cursor` continues it; null when all is done. */
export async function groupErrors(
  events: Pick<EventStore, "jobs">,
  cursor: string | undefined,
): Promise<{ groups: ErrorGroup[]; cursor: string | null }> {
  const deadline = performance.now() + BUDGET_MS;
  const groups = new Map<string, ErrorGroup>();
  const { next } = await eachPage(
    async (page) => {
      const { items, next } = await events.jobs({ status: "failed" }, page);
      for (const job of items) addTo(groups, job);
      return { count: items.length, next };
    },
    { cursor, limit: PAGE },
    async () => performance.now() < deadline,
  );
  return { groups: [...groups.values()].sort((a, b) => b.count - a.count), cursor: next };
}

function addTo(
  groups: Map<string, ErrorGroup>,
  { route, lastError, deadLetter, receivedAt, eventId, source }: OpenJob,
): void {
  const error = lastError ?? deadLetter?.reason ?? "";
  const name = JSON.stringify([route, error]);
  const known = groups.get(name) ?? {
    route,
    error,
    count: 0,
    oldestAt: receivedAt,
    newestAt: receivedAt,
    eventId,
    source,
  };
  known.count++;
  known.oldestAt = Math.min(known.oldestAt, receivedAt);
  if (receivedAt >= known.newestAt) Object.assign(known, { newestAt: receivedAt, eventId, source });
  groups.set(name, known);
}
