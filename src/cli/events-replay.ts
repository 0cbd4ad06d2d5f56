import { OperatorError } from "../errors.ts";
import { DIGEST_PREFIX } from "../events/event.ts";
import type { EventDetail, EventStore } from "../events/store.ts";
import { whyNotReplayed } from "../events/untaken.ts";
import { printable } from "../lib/printable.ts";
import { type BulkOptions, jobFilter, takePages } from "./bulk.ts";
import { findEvent, noSuchEvent, type OneEvent } from "./find-event.ts";
import { counted, printJson, say } from "./output.ts";
import { withStores } from "./stores.ts";
import { wholeNumber } from "./whole-number.ts";

interface ReplayOptions extends BulkOptions {
  force?: boolean;
  conflict?: string;
}

/** Queues failed events again, by id or by a filter. The exit code is 1 if any of them cannot be replayed. */
export function runEventsReplay(eventIds: string[], options: ReplayOptions): Promise<void> {
  const { source, force = false, conflict, json } = options;
  const filter = jobFilter(eventIds, options, "failed");
  if (filter && force) throw new OperatorError({ found: "--force is not usable here", remedy: "give event ids" });
  if (conflict !== undefined) return replayConflict(eventIds, conflict, options);
  return withStores(async ({ events, now }) => {
    const refused: { eventId: string; reason: string }[] = [];
    let replayed = 0;
    if (filter) {
      const taken = await takePages(
        (page) => events.replayAll(filter, now(), page),
        (page) => events.count(filter, page),
        options,
      );
      if (taken === null) return;
      replayed = taken;
    }
    for (const eventId of new Set(eventIds)) {
      const reason = await replayOne(events, { eventId, source }, { force, now: now() });
      if (reason === null) replayed++;
      else refused.push({ eventId, reason });
    }
    if (json) printJson({ replayed, refused });
    else {
      for (const { eventId, reason } of refused) say(`${printable(eventId)}: ${reason}`);
      say(`Queued ${counted(replayed, "event")} again.`);
    }
    if (refused.length > 0) process.exitCode = 1;
  });
}

const MAX_CONFLICT = 999_999_999;

/** Stores a conflict or a repeat of an event as a new event, and queues it. */
function replayConflict(eventIds: string[], conflict: string, { source, force, json }: ReplayOptions): Promise<void> {
  const [eventId, ...others] = eventIds;
  if (eventId === undefined || others.length > 0 || force) {
    throw new OperatorError({ found: "--conflict is not usable here", remedy: "give one event id, and no --force" });
  }
  const number = wholeNumber("--conflict", conflict, MAX_CONFLICT);
  return withStores(async ({ events, now }) => {
    const event = await findEvent(events, { eventId, source });
    if (!event) throw noSuchEvent(eventId);
    const newId = await makeEvent(events, event, { number, now: now() });
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

/** Replays one event, with `force` for the present routes. Returns the reason if it cannot be replayed, else null. */
async function replayOne(
  events: EventStore,
  wanted: OneEvent,
  { force, now }: { force: boolean; now: number },
): Promise<string | null> {
  const event = await findEvent(events, wanted);
  if (!event) return "there is no such event";
  if (force) return (await events.reroute(event)) ? null : "is already queued";
  if ((await events.replay(event, now)) > 0) return null;
  const reason = whyNotReplayed(event);
  return event.status === "processed" ? `${reason}; to process it a second time, use --force` : reason;
}
