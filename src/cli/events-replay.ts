import { setTimeout as delay } from "node:timers/promises";
import { OperatorError } from "../errors.ts";
import { DIGEST_PREFIX } from "../events/event.ts";
import type { EventStore } from "../events/store.ts";
import { printable } from "../lib/printable.ts";
import { findEvent, noSuchEvent, type OneEvent } from "./find-event.ts";
import { counted, printJson, say } from "./output.ts";
import { createProgressBar } from "./progress.ts";
import { withStores } from "./stores.ts";

interface ReplayOptions {
  deadLetter?: boolean;
  source?: string;
  force?: boolean;
  conflict?: string;
  json?: boolean;
}

// A server that waits for the lock of the database tries again within 100 ms (SQLite's busy handler).
const PAUSE_MS = 100;

/** Queues failed events again, by id or all of them. The exit code is 1 if any of them cannot be replayed. */
export function runEventsReplay(eventIds: string[], options: ReplayOptions): Promise<void> {
  const { deadLetter = false, source, force = false, conflict, json } = options;
  if (deadLetter === eventIds.length > 0) {
    const found = deadLetter ? "--dead-letter cannot be used with event ids" : "No events to replay are given";
    throw new OperatorError({ found, remedy: "give event ids, or --dead-letter for all failed events" });
  }
  if (deadLetter && (source !== undefined || force))
    throw new OperatorError("--dead-letter cannot be used with --source or --force");
  if (conflict !== undefined) return replayConflict(eventIds, conflict, options);
  return withStores(async ({ events }) => {
    if (deadLetter) {
      const replayed = await replayDeadLetters(events, json ? null : (await events.backlog()).failed);
      return json ? printJson({ replayed, refused: [] }) : say(`Queued ${counted(replayed, "event")} again.`);
    }
    const refused: { eventId: string; reason: string }[] = [];
    let replayed = 0;
    for (const eventId of new Set(eventIds)) {
      const reason = await replayOne(events, { eventId, source }, force);
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

/** Stores the bytes of a conflict as a new event, and queues it. A conflict is a delivery with the event's id but different bytes. */
function replayConflict(eventIds: string[], conflict: string, { source, force, json }: ReplayOptions): Promise<void> {
  const [eventId, ...others] = eventIds;
  if (eventId === undefined || others.length > 0 || force) {
    throw new OperatorError({ found: "--conflict is not usable here", remedy: "give one event id, and no --force" });
  }
  if (!/^[1-9][0-9]{0,5}$/.test(conflict))
    throw new OperatorError({ found: "--conflict is not usable", remedy: "give a whole number from 1" });
  return withStores(async ({ events }) => {
    const event = await findEvent(events, { eventId, source });
    const wanted = event?.conflicts[Number(conflict) - 1];
    if (!event || !wanted) {
      if (!event) throw noSuchEvent(eventId);
      const found = `The event has ${counted(event.conflicts.length, "conflict")}`;
      throw new OperatorError({ found, remedy: "run authserve events show to see them" }, 1);
    }
    const filter = { eventId: event.eventId, source: event.source, conflict: Number(conflict) };
    const { count } = await events.replay(filter, Date.now());
    const newId = DIGEST_PREFIX + wanted.payloadSha256;
    if (count === 0) {
      const remedy = `run authserve events replay ${newId} --source ${event.source}`;
      throw new OperatorError({ found: "The conflict is an event already", remedy }, 1);
    }
    if (json) printJson({ replayed: 1, eventId: newId });
    else say(`Queued as ${newId}.`);
  });
}

/** Replays all dead letters, page by page. Shows the progress towards `total` if that is not null. Returns the count. */
async function replayDeadLetters(events: EventStore, total: number | null): Promise<number> {
  const progress = createProgressBar((perSecond) => `${Math.round(perSecond)} events/s`);
  let { count, nextPage } = await events.replay("dead letters", Date.now());
  let replayed = count;
  while (nextPage !== null) {
    await delay(PAUSE_MS);
    ({ count, nextPage } = await events.replay("dead letters", Date.now(), nextPage));
    replayed += count;
    if (total !== null) progress.update(replayed, total);
  }
  if (total !== null) progress.end();
  return replayed;
}

/** Replays one event. Returns the reason if it cannot be replayed, else null. */
async function replayOne(events: EventStore, wanted: OneEvent, force: boolean): Promise<string | null> {
  const event = await findEvent(events, wanted);
  if (!event) return "there is no such event";
  const { eventId, source } = event;
  const { count } = await events.replay({ eventId, source, evenIfProcessed: force }, Date.now());
  if (count > 0) return null;
  if (event.status === "processed" && !force) return "is already processed; to process it a second time, use --force";
  return "is already queued";
}
