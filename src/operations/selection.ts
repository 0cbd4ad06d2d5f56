import * as v from "valibot";
import { fieldError } from "../errors.ts";
import { JOB_CURSOR, LIST_CURSOR } from "../events/cursors.ts";
import { EVENTS_PER_PAGE } from "../events/limits.ts";
import { eachPage, type TakePage } from "../events/pages.ts";
import type { CountedPage, EventDetail, EventFilter, EventName, JobFilter, PageRequest } from "../events/store.ts";
import type { Untaken } from "../events/untaken.ts";
import { defined } from "../lib/defined.ts";
import { CONDITIONS, count, cursor, text } from "./fields.ts";
import type { OperationContext } from "./operation.ts";

// How events are selected for a change, by id or by a filter, and taken.

export const ids = v.pipe(v.array(text), v.minLength(1, "must not be empty"), v.maxLength(1000, "has over 1000 ids"));

/** The most that a request with 1000 ids may have. */
export const SELECTION_LIMIT = 256 * 1024;

/** The longest reason of a discard or an erasure, in characters. */
export const MAX_REASON = 1000;

/**
 * The reason of a discard or an erasure, without white space around it. Null if it is not usable: PostgreSQL stores no
 * U+0000.
 */
export function givenReason(text: string): string | null {
  const reason = text.trim();
  return reason === "" || text.length > MAX_REASON || reason.includes("\0") ? null : reason;
}

export const reason = v.pipe(text, v.transform(givenReason), v.string("must not be empty or have U+0000"));

/** The members of a request that select the events of a replay or a discard. */
export const SELECTED = {
  filter: v.optional(
    v.strictObject({
      status: v.optional(v.picklist(["failed", "queued"], "must be failed or queued")),
      ...CONDITIONS,
      route: v.optional(text),
    }),
  ),
  ids: v.optional(ids),
  source: v.optional(text),
  dryRun: v.optional(v.boolean()),
  cursor: v.optional(v.pipe(text, v.description("That of the answer before."))),
  limit: v.optional(
    v.pipe(
      count,
      v.minValue(1, "must be at least 1"),
      v.maxValue(EVENTS_PER_PAGE, `must be at most ${EVENTS_PER_PAGE}`),
      v.description("With `filter`: at most so many events for this request (default: as many as 5 seconds allow)."),
    ),
  ),
};

/** What was taken. `cursor` continues it; null when all is done. */
export const TakenAnswer = v.object({
  matched: count,
  refused: v.array(v.object({ eventId: v.string(), reason: v.string() })),
  cursor,
});

type Taken = v.InferOutput<typeof TakenAnswer>;
type Selection = v.InferOutput<v.ObjectSchema<typeof SELECTED, undefined>>;

/** What is done to events. Each method returns the number of jobs, or of events, that it has changed. */
interface Action {
  one(event: EventName): Promise<number>;
  page(filter: JobFilter, page: PageRequest): Promise<CountedPage>;
  /** Why `one` has changed nothing. */
  whyNot(event: EventDetail): Untaken;
}

/** Takes the events of a request, by id or by a filter. */
export async function takeSelected(
  context: OperationContext,
  { ids, source, filter, dryRun = false, cursor, limit }: Selection,
  action: Action,
): Promise<Taken> {
  requireOneSelection({ ids, source, filter });
  if (ids === undefined) return takeFiltered(context, action, { filter, cursor, dryRun, limit });
  const [surplus] = Object.entries({ dryRun: dryRun || undefined, cursor, limit }).filter(([, value]) => value);
  if (surplus) throw fieldError(surplus[0], "cannot be used with ids");
  const taken: Taken = { matched: 0, refused: [], cursor: null };
  for (const eventId of new Set(ids)) {
    const reason = await takeOne(context, action, eventId, source);
    if (reason === null) taken.matched++;
    else taken.refused.push({ eventId, reason });
  }
  return taken;
}

/** Throws `validation_failed` unless a request has either ids or a filter. */
export function requireOneSelection({
  ids,
  source,
  filter,
}: {
  ids?: unknown;
  source?: unknown;
  filter?: unknown;
}): void {
  if ((ids === undefined) === (filter === undefined)) throw fieldError("", "must have either ids or filter");
  if (filter !== undefined && source !== undefined)
    throw fieldError("source", "cannot be used with filter: use filter.source");
}

/** The only event with this id, or why there is none. */
export async function onlyEvent(
  { stores: { events } }: OperationContext,
  eventId: string,
  source: string | undefined,
): Promise<EventDetail | Untaken> {
  const [event, ...others] = await events.get(eventId, source);
  return others.length > 0 ? "several sources have this id: name one" : (event ?? "there is no such event");
}

/** Why an event is not known by an id. A beginning of the id may be meant. */
export const isUnknown = (reason: string | undefined) => LOOKED_UP.includes(reason ?? "");

const LOOKED_UP: readonly string[] = [
  "there is no such event",
  "several sources have this id: name one",
] satisfies Untaken[];

/** Takes an event. Returns why not, or null. */
async function takeOne(context: OperationContext, action: Action, eventId: string, source: string | undefined) {
  const event = await onlyEvent(context, eventId, source);
  if (typeof event === "string") return event;
  return (await action.one(event)) > 0 ? null : action.whyNot(event);
}

// A search returns as many events as fit into one page, and each is taken by itself.
const SEARCH_PAGE = 100;

/** Takes the events that match a filter, or only counts them: one page if there is a limit. */
async function takeFiltered(
  { stores: { events }, pace }: OperationContext,
  action: Action,
  { filter = {}, cursor, dryRun, limit }: Pick<Selection, "filter" | "cursor" | "limit"> & { dryRun: boolean },
): Promise<Taken> {
  const { status = "failed", search, ...conditions } = filter;
  if (search !== undefined && filter.route !== undefined)
    throw fieldError("filter.route", "cannot be used with search");
  const form = search === undefined ? JOB_CURSOR : LIST_CURSOR;
  if (cursor !== undefined && !form.test(cursor)) throw fieldError("cursor", "is not a cursor of this request");
  const jobs = defined({ status, ...conditions });
  const take: TakePage = (page) => {
    if (search === undefined) return dryRun ? events.count(jobs, page) : action.page(jobs, page);
    const found = { ...jobs, search, limit: Math.min(page.limit, SEARCH_PAGE) };
    return takeFound(events, dryRun ? null : action, defined({ ...found, before: page.cursor }));
  };
  const mayGoOn = pace();
  const { taken, next } = await eachPage(
    take,
    { cursor, limit: limit ?? EVENTS_PER_PAGE },
    async () => limit === undefined && mayGoOn(),
  );
  return { matched: taken, refused: [], cursor: next };
}

/** Takes the events of a page of a search; with null it only counts them. */
async function takeFound(
  events: OperationContext["stores"]["events"],
  action: Action | null,
  filter: EventFilter,
): Promise<CountedPage> {
  const { items, older } = await events.list(filter);
  if (action === null) return { count: items.length, next: older };
  let count = 0;
  // It may have been taken meanwhile, or wait without a job.
  for (const event of items) if ((await action.one(event)) > 0) count++;
  return { count, next: older };
}
