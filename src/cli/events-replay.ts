import { OperatorError } from "../errors.ts";
import { replaying, rerouting } from "../events/actions.ts";
import { DIGEST_PREFIX } from "../events/event.ts";
import type { EventDetail, EventStore } from "../events/store.ts";
import { printable } from "../lib/printable.ts";
import { type BulkOptions, jobFilter, runBulk } from "./bulk.ts";
import { findEvent, noSuchEvent } from "./find-event.ts";
import { makeChange } from "./make-change.ts";
import { wholeNumber } from "./option-values.ts";
import { counted, printJson, say } from "./output.ts";
import { withStores } from "./stores.ts";

interface ReplayOptions extends BulkOptions {
  force?: boolean;
  transform?: boolean;
  conflict?: string;
}

/** Queues failed events again, by id or by a filter. The exit code is 1 if any of them cannot be replayed. */
export function runEventsReplay(eventIds: string[], options: ReplayOptions): Promise<void> {
  const { force = false, transform = false, conflict } = options;
  const filter = jobFilter(eventIds, options, "failed");
  if (filter && force) throw new OperatorError({ found: "--force is not usable here", remedy: "give event ids" });
  if (conflict !== undefined) return replayConflict(eventIds, conflict, options);
  return runBulk(eventIds, options, {
    filter,
    action: (events, now) => (force ? rerouting : replaying)(events, now, transform),
    change: { path: "events/replay", body: { force, transform } },
    audited: { action: "events.replay", detail: { force } },
    explained: (reason) =>
      reason === "is already processed" ? `${reason}; to process it a second time, use --force` : reason,
    member: "replayed",
    done: (events) => `Queued ${events} again.`,
  });
}

const MAX_CONFLICT = 999_999_999;

/** Stores a conflict or a repeat of an event as a new event, and queues it. */
function replayConflict(eventIds: string[], conflict: string, options: ReplayOptions): Promise<void> {
  const { source, force, json } = options;
  if (options.server !== undefined) {
    const remedy = "make an event of a conflict on the machine of the server";
    throw new OperatorError({ found: "--conflict cannot be used with --server", remedy });
  }
  const [eventId, ...others] = eventIds;
  if (eventId === undefined || others.length > 0 || force) {
    throw new OperatorError({ found: "--conflict is not usable here", remedy: "give one event id, and no --force" });
  }
  const number = wholeNumber("--conflict", conflict, MAX_CONFLICT);
  return withStores(async (stores) => {
    const { events, now } = stores;
    const event = await findEvent(events, { eventId, source });
    if (!event) throw noSuchEvent(eventId);
    const newId = await makeChange(stores, {
      action: "events.replay",
      asked: { ids: [event.eventId], source: event.source, conflict: number },
      make: () => makeEvent(events, event, { number, now: now() }),
      outcome: () => ({ events: 1 }),
    });
    if (json) printJson({ replayed: 1, eventId: newId });
    else say(`Queued as ${printable(newId)}.`);
  });
}

/**
 * Makes an event of a conflict or a repeat, and returns its id. Throws `OperatorError` if there is none or it is one
 * already.
 */
async function makeEvent(
  events: EventStore,
  event: EventDetail,
  { number, now }: { number: number; now: number },
): Promise<string> {
  const conflict = event.conflicts.find((one) => one.number === number);
  if (conflict) {
    const newId = DIGEST_PREFIX + conflict.payloadSha256;
    if (await events.replayConflict(event, number, now)) return newId;
    throw isEventAlready(event, newId);
  }
  const repeat = event.repeats.find((one) => one.number === number);
  if (!repeat) throw noSuchConflict(event, number);
  if (repeat.replayedAs !== null) throw isEventAlready(event, repeat.replayedAs);
  const newId = await events.replayRepeat(event, repeat.eventId, now);
  if (newId !== null) return newId;
  throw new OperatorError(
    { found: "The event has changed meanwhile", remedy: "run authserve events show to see it" },
    1,
  );
}

function isEventAlready({ source }: EventDetail, eventId: string): OperatorError {
  const remedy = `run authserve events replay ${printable(eventId)} --source ${source}`;
  return new OperatorError({ found: "It is an event already", remedy }, 1);
}

function noSuchConflict({ conflicts, repeats }: EventDetail, number: number): OperatorError {
  const kept = `${counted(conflicts.length, "conflict")} and ${counted(repeats.length, "repeat")}`;
  const found = `The event has ${kept}, and none of them is number ${number}`;
  return new OperatorError({ found, remedy: "run authserve events show to see them" }, 1);
}
