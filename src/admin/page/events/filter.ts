import type { EventFilter } from "../answers.ts";

/** The ranges of time that a list of events offers, and their lengths. */
const RANGES = { "1h": 3_600_000, "24h": 86_400_000, "7d": 7 * 86_400_000 } as const;
type Range = keyof typeof RANGES;

/** The members of an address that filter the list of events. */
export const FILTER_NAMES = [
  "status",
  "type",
  "source",
  "route",
  "search",
  "error",
  "range",
  "since",
  "until",
] as const;

type Query = Readonly<Record<string, string>>;

/** The filter of a list of events, from the query of its address. `now` is in Unix milliseconds. */
export function filterOf(query: Query, now: number): EventFilter {
  const { range = "", since, until } = query;
  const filter: EventFilter = {};
  for (const name of ["status", "type", "source", "route", "search", "error"] as const) {
    const value = query[name];
    // The server refuses a status that it does not know.
    if (value) Object.assign(filter, { [name]: value });
  }
  if (Object.hasOwn(RANGES, range)) filter.since = new Date(now - RANGES[range as Range]).toISOString();
  if (range === "custom") Object.assign(filter, timesOf({ since, until }));
  return filter;
}

function timesOf(times: Record<string, string | undefined>): EventFilter {
  const valid = Object.entries(times).flatMap(([name, text]) => {
    const at = text ? Date.parse(text) : Number.NaN;
    return Number.isNaN(at) ? [] : [[name, new Date(at).toISOString()]];
  });
  return Object.fromEntries(valid) as EventFilter;
}

/** The query of an address, without what does not filter. */
export const filterQuery = (query: Query): Query =>
  Object.fromEntries(FILTER_NAMES.flatMap((name) => (query[name] ? [[name, query[name]]] : [])));
