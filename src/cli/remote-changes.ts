import type { Action } from "../events/actions.ts";
import type { EraseFilter } from "../events/erase.ts";
import type { CountedPage, EventDetail, EventFilter, JobFilter, PageRequest } from "../events/store.ts";
import { isoTime } from "../lib/iso-time.ts";
import type { RemoteServer } from "./remote.ts";

/** What a request of the API does to the events that it selects: its path, and its body without the selection. */
export interface RemoteChange {
  path: string;
  body: object;
}

interface Taken {
  matched: number;
  cursor: string | null;
}

/** Does to events of another machine what the request says. */
export function remoteAction(
  server: RemoteServer,
  { path, body }: RemoteChange,
  whyNot: (event: EventDetail) => string,
): Action<string> {
  return {
    async one({ eventId, source }) {
      return (await server.post<Taken>(path, { ...body, ids: [eventId], source })).matched;
    },
    page: (filter, page) => takePage(server, { path, body: { ...body, filter: filterOf(filter), ...page } }),
    whyNot,
  };
}

/** Counts the events of another machine that the request would take. */
export const remoteCount = (
  server: RemoteServer,
  { path, body }: RemoteChange,
  filter: JobFilter,
  page: PageRequest,
): Promise<CountedPage> =>
  takePage(server, { path, body: { ...body, filter: filterOf(filter), ...page, dryRun: true } });

async function takePage(server: RemoteServer, { path, body }: RemoteChange): Promise<CountedPage> {
  const { matched: count, cursor: next } = await server.post<Taken>(path, body);
  return { count, next };
}

/** A filter as the API takes it. */
export const filterOf = ({ since, until, ...conditions }: JobFilter | EraseFilter | Omit<EventFilter, "limit">) => ({
  ...conditions,
  ...(since !== undefined && { since: isoTime(since) }),
  ...(until !== undefined && { until: isoTime(until) }),
});
