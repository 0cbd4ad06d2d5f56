import { setTimeout as delay } from "node:timers/promises";
import { AppError } from "../errors.ts";
import type { Action } from "../events/actions.ts";
import { EVENTS_PER_PAGE } from "../events/limits.ts";
import { eachPage, type TakePage } from "../events/pages.ts";
import type { CountedPage, EventDetail, EventFilter, EventStore, JobFilter } from "../events/store.ts";
import { defined } from "../lib/defined.ts";

/** Selects events for an action. A search looks into payloads. */
interface BulkFilter extends JobFilter, Pick<EventFilter, "search"> {}

/** What an action has taken. `cursor` continues it; null when all is done. */
export interface BulkResult {
  matched: number;
  refused: { eventId: string; reason: string }[];
  cursor: string | null;
}

// A request ends after this time, and its sender continues with the cursor.
const BUDGET_MS = 5000;
// A search returns as many events as fit into one page, and each is taken by itself.
const SEARCH_PAGE = 100;
// Deliveries get their turn between two pages.
const PAUSE_MS = 20;

type BulkStore = Pick<EventStore, "list" | "count">;

interface TakeOptions {
  filter: BulkFilter;
  cursor: string | undefined;
  dryRun: boolean;
  /** At most so many, in one page. */
  limit: number | undefined;
}

/** Takes the events that match a filter, or only counts them, for a limited time. */
export async function takeFiltered(
  events: BulkStore,
  action: Action,
  { filter, cursor, dryRun, limit }: TakeOptions,
): Promise<BulkResult> {
  const deadline = performance.now() + BUDGET_MS;
  const { search, ...jobs } = filter;
  const take: TakePage = (page) => {
    if (search !== undefined) {
      const found = { ...filter, before: page.cursor, limit: Math.min(page.limit, SEARCH_PAGE) };
      return takeFound(events, dryRun ? null : action, found);
    }
    return dryRun ? events.count(jobs, page) : action.page(jobs, page);
  };
  const { taken, next } = await eachPage(take, { cursor, limit: limit ?? EVENTS_PER_PAGE }, async () => {
    if (limit !== undefined || performance.now() >= deadline) return false;
    await delay(PAUSE_MS);
    return true;
  });
  return { matched: taken, refused: [], cursor: next };
}

/** Takes the events of a page of a search; with null it only counts them. */
async function takeFound(
  events: BulkStore,
  action: Action | null,
  filter: BulkFilter & { before: string | undefined; limit: number },
): Promise<CountedPage> {
  const { items, older } = await events.list(defined(filter));
  if (action === null) return { count: items.length, next: older };
  let count = 0;
  // It may have been taken meanwhile, or wait without a job.
  for (const event of items) if ((await action.one(event)) > 0) count++;
  return { count, next: older };
}

/** The event with this id. Throws `not_found`, and `ambiguous_event` if several sources have the id. */
export async function findEvent(
  events: Pick<EventStore, "get">,
  eventId: string,
  source: string | undefined,
): Promise<EventDetail> {
  const [event, ...others] = await events.get(eventId, source);
  if (!event) throw new AppError("not_found");
  if (others.length === 0) return event;
  const sources = [event, ...others].map((one) => one.source).join(", ");
  throw new AppError("ambiguous_event", { errors: [{ path: "source", message: `is needed: one of ${sources}` }] });
}
