import { parseDurationMs } from "../config/units.ts";
import { OperatorError } from "../errors.ts";
import type { Status } from "../events/event.ts";
import type { EventFilter } from "../events/store.ts";
import { summaryForOutput } from "./event-summary.ts";
import { printJson, printTable, say } from "./output.ts";
import { withStores } from "./stores.ts";

interface ListOptions {
  status?: Status;
  type?: string;
  source?: string;
  since?: string;
  limit: string;
  json?: boolean;
}

/** Prints stored events, newest first. Throws {@link OperatorError} for an option that is none. */
export function runEventsList(options: ListOptions): Promise<void> {
  const filter = toFilter(options, Date.now());
  return withStores(async ({ events }) => {
    const found = (await events.list(filter)).map(summaryForOutput);
    if (options.json) return printJson(found);
    printTable(
      ["RECEIVED", "STATUS", "ATTEMPTS", "SOURCE", "TYPE", "EVENT ID", "LAST ERROR"],
      found.map((event) => [
        event.receivedAt,
        event.status,
        String(event.attempts),
        event.source,
        event.type,
        event.eventId,
        event.lastError ?? "",
      ]),
    );
    if (found.length === filter.limit) say(`The newest ${filter.limit}; more with --limit.`);
  });
}

/** Reads the options of `events list`; a bad one is an {@link OperatorError} that names it. */
function toFilter({ status, type, source, since, limit }: ListOptions, now: number): EventFilter {
  if (!/^[1-9][0-9]{0,5}$/.test(limit)) throw new OperatorError("--limit is a whole number from 1 to 999999");
  return {
    limit: Number(limit),
    ...(status === undefined ? {} : { status }),
    ...(type === undefined ? {} : { type }),
    ...(source === undefined ? {} : { source }),
    ...(since === undefined ? {} : { since: toTime(since, now) }),
  };
}

const ISO_TIME =
  /^[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?$/;

function toTime(text: string, now: number): number {
  const ago = parseDurationMs(text);
  if (ago !== null) return now - ago;
  // UTC like all that is printed; Date.parse takes a date for UTC and a time of day for the machine's own.
  const withZone = /[T ][0-9:.]+$/.test(text) ? `${text}Z` : text;
  const time = ISO_TIME.test(text) ? Date.parse(withZone) : Number.NaN;
  // Date.parse takes 31 February for 3 March.
  const day = Number(text.slice(8, 10));
  if (Number.isNaN(time) || new Date(`${text.slice(0, 10)}T00:00:00Z`).getUTCDate() !== day)
    throw new OperatorError("--since is a duration or a time, e.g. 1h or 2026-01-31T12:00:00Z");
  return time;
}
