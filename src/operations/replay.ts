import * as v from "valibot";
import { auditedSelection } from "../audit/selection.ts";
import { fieldError } from "../errors.ts";
import { DIGEST_PREFIX } from "../events/event.ts";
import type { EventDetail } from "../events/store.ts";
import { whyNotReplayed, whyNotRerouted } from "../events/untaken.ts";
import { count } from "./fields.ts";
import { change, type OperationContext } from "./operation.ts";
import { onlyEvent, SELECTED, SELECTION_LIMIT, TakenAnswer, takeSelected } from "./selection.ts";

const ReplayedAnswer = v.object({
  ...TakenAnswer.entries,
  eventId: v.optional(
    v.pipe(v.string(), v.description("With `conflict`: the id of the event that was made of it, now or before.")),
  ),
});

export const replay = change({
  path: "events/replay",
  scope: "events:write",
  summary:
    "Queues the failed jobs of events again: by `ids` (with `source`), or of all that match `filter`, which has the names of the list's query. `force` sends events again, whatever became of them. `conflict` makes an event of other bytes that came under its id, or of another id under which its bytes came. `dryRun` only counts. If `cursor` is not null, send the request again with it, to go on.",
  input: v.object({
    ...SELECTED,
    force: v.optional(
      v.pipe(v.boolean(), v.description("With `ids`: gives the events to all present routes, also what is processed.")),
    ),
    transform: v.optional(
      v.pipe(
        v.boolean(),
        v.description("Makes anew what the transformation of a route sends, instead of the same bytes."),
      ),
    ),
    conflict: v.optional(
      v.pipe(
        count,
        v.minValue(1, "must be at least 1"),
        v.description("With one id: stores this conflict or repeat of the event as an event, and queues it."),
      ),
    ),
  }),
  limitBytes: SELECTION_LIMIT,
  output: ReplayedAnswer,
  audited: {
    action: "events.replay",
    asked: ({ force = false, dryRun, conflict, ...body }) =>
      dryRun ? null : { ...auditedSelection(body), ...(conflict === undefined ? { force } : { conflict }) },
    outcome: ({ matched }) => ({ events: matched }),
  },
  async run(context, { force = false, transform = false, conflict, ...selection }) {
    const { filter } = selection;
    if (force && filter !== undefined) throw fieldError("force", "cannot be used with filter: name the events in ids");
    if (filter?.status === "queued") throw fieldError("filter.status", "must be failed");
    if (conflict !== undefined) {
      const { ids = [], dryRun, cursor, limit } = selection;
      const [eventId, ...others] = ids;
      const surplus = [filter, cursor, limit].some((one) => one !== undefined) || force || transform || dryRun;
      if (eventId === undefined || others.length > 0 || surplus)
        throw fieldError("conflict", "needs one id in ids, and nothing else but source");
      return replayConflict(context, eventId, selection.source, conflict);
    }
    const { events, now } = context.stores;
    return takeSelected(context, selection, {
      async one(event) {
        if (!force) return events.replay(event, now(), transform);
        if (transform) await events.forgetSentBodies(event);
        return Number(await events.reroute(event));
      },
      page: (jobs, page) => events.replayAll(jobs, now(), page, transform),
      whyNot: force ? whyNotRerouted : whyNotReplayed,
    });
  },
});

/** Makes an event of a conflict or a repeat. */
async function replayConflict(
  context: OperationContext,
  eventId: string,
  source: string | undefined,
  number: number,
): Promise<v.InferOutput<typeof ReplayedAnswer>> {
  const event = await onlyEvent(context, eventId, source);
  const { reason = null, ...made } =
    typeof event === "string" ? { reason: event } : await makeEvent(context, event, number);
  const refused = reason === null ? [] : [{ eventId, reason }];
  return { matched: reason === null ? 1 : 0, refused, cursor: null, ...made };
}

/** Makes an event of a conflict or a repeat. Returns its id, and why it was not made. */
async function makeEvent(
  { stores: { events, now } }: OperationContext,
  event: EventDetail,
  number: number,
): Promise<{ eventId?: string; reason?: string }> {
  const conflict = event.conflicts.find((one) => one.number === number);
  if (conflict) {
    const eventId = DIGEST_PREFIX + conflict.payloadSha256;
    return (await events.replayConflict(event, number, now())) ? { eventId } : { eventId, reason: IS_EVENT };
  }
  const repeat = event.repeats.find((one) => one.number === number);
  if (!repeat) {
    const kept = `${numberOf(event.conflicts, "conflict")} and ${numberOf(event.repeats, "repeat")}`;
    return { reason: `has ${kept}, and none of them is number ${number}` };
  }
  if (repeat.replayedAs !== null) return { eventId: repeat.replayedAs, reason: IS_EVENT };
  const eventId = await events.replayRepeat(event, repeat.eventId, now());
  return eventId === null ? { reason: CHANGED } : { eventId };
}

const numberOf = ({ length }: readonly object[], one: string) => `${length} ${length === 1 ? one : `${one}s`}`;

/** Why an event was not made of a repeat. */
export const CHANGED = "has changed meanwhile";

const IS_EVENT = "is an event already";
