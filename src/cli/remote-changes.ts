import type { TakenNamed } from "../events/actions.ts";
import type { EraseFilter } from "../events/erase.ts";
import type { CountedPage, EventFilter, EventName, JobFilter, PageRequest } from "../events/store.ts";
import type { Untaken } from "../events/untaken.ts";
import { isoTime } from "../lib/iso-time.ts";
import type { RemoteServer } from "./remote.ts";

/** What a request of the API does to the events that it selects: its path, and its body without the selection. */
export interface RemoteChange {
  path: string;
  body: object;
}

interface Taken extends TakenNamed<string> {
  cursor: string | null;
}

/** Does to a page of events of another machine what the request says. */
export async function remotePage(
  server: RemoteServer,
  { path, body }: RemoteChange,
  filter: JobFilter,
  page: PageRequest,
): Promise<CountedPage> {
  const asked = { ...body, filter: filterOf(filter), ...page };
  const { matched: count, cursor: next } = await server.post<Taken>(path, asked);
  return { count, next };
}

/** Counts the events of another machine that the request would take. */
export const remoteCount: typeof remotePage = (server, { path, body }, ...page) =>
  remotePage(server, { path, body: { ...body, dryRun: true } }, ...page);

// The API takes up to 1000.
const IDS_PER_REQUEST = 500;

/**
 * Does to events of another machine, by id, what the request says: many in one request, then those whose beginning was
 * given. `find` looks an event up by the beginning of its id.
 */
export async function takeNamedThere(
  server: RemoteServer,
  { path, body }: RemoteChange,
  { ids, source }: { ids: readonly string[]; source: string | undefined },
  find: (eventId: string) => Promise<EventName | null>,
): Promise<TakenNamed<string>> {
  const all: TakenNamed<string> = { matched: 0, refused: [] };
  const found: EventName[] = [];
  async function take(some: readonly string[], ofSource: string | undefined) {
    const { matched, refused } = await server.post<Taken>(path, { ...body, ids: some, source: ofSource });
    all.matched += matched;
    return refused;
  }
  const wanted = [...new Set(ids)];
  for (let from = 0; from < wanted.length; from += IDS_PER_REQUEST) {
    for (const one of await take(wanted.slice(from, from + IDS_PER_REQUEST), source)) {
      const event = LOOKED_UP.includes(one.reason) ? await find(one.eventId) : null;
      if (event === null) all.refused.push(one);
      else found.push(event);
    }
  }
  for (const event of found) all.refused.push(...(await take([event.eventId], event.source)));
  return all;
}

// Of an id in several sources, the lookup tells which.
const LOOKED_UP: readonly string[] = [
  "there is no such event",
  "several sources have this id: name one",
] satisfies Untaken[];

/** A filter as the API takes it. */
export const filterOf = ({ since, until, ...conditions }: JobFilter | EraseFilter | Omit<EventFilter, "limit">) => ({
  ...conditions,
  ...(since !== undefined && { since: isoTime(since) }),
  ...(until !== undefined && { until: isoTime(until) }),
});
