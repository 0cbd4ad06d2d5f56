import { setTimeout as delay } from "node:timers/promises";
import { OperatorError } from "../errors.ts";
import { DIGEST_PREFIX } from "../events/event.ts";
import type { EventStore } from "../events/store.ts";
import { printable } from "../lib/printable.ts";
import { findEvent, type OneEvent } from "./find-event.ts";
import { counted, printJson, say } from "./output.ts";
import { createProgress } from "./progress.ts";
import { withStores } from "./stores.ts";

interface ReplayOptions {
  deadLetter?: boolean;
  source?: string;
  force?: boolean;
  conflict?: string;
  json?: boolean;
}

// A server that finds the database held looks again within 100 ms (SQLite's busy handler).
const PAUSE_MS = 100;

/** Queues failed events again, by id or all of them; exit code 1 when one of them cannot be. */
export function runEventsReplay(eventIds: string[], options: ReplayOptions): Promise<void> {
  const { deadLetter = false, source, force = false, conflict, json } = options;
  if (deadLetter === eventIds.length > 0) {
    throw new OperatorError("Name the events to replay, or --dead-letter for all that failed, not both");
  }
  if (deadLetter && (source !== undefined || force))
    throw new OperatorError("--dead-letter takes no --source and no --force");
  if (conflict !== undefined) return replayConflict(eventIds, conflict, options);
  return withStores(async ({ events }) => {
    if (deadLetter) {
      const replayed = await replayDeadLetters(events, json ? null : (await events.backlog()).failed);
      return json ? printJson({ replayed, refused: [] }) : say(`${replayed} replayed.`);
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
      say(`${replayed} replayed.`);
    }
    if (refused.length > 0) process.exitCode = 1;
  });
}

/** Makes an event of its own of the other bytes that came under an event's id, and queues it. */
function replayConflict(eventIds: string[], conflict: string, { source, force, json }: ReplayOptions): Promise<void> {
  const [eventId, ...others] = eventIds;
  if (eventId === undefined || others.length > 0 || force) {
    throw new OperatorError("--conflict takes one event, and no --force");
  }
  if (!/^[1-9][0-9]{0,5}$/.test(conflict)) throw new OperatorError("--conflict is a whole number from 1 on");
  return withStores(async ({ events }) => {
    const event = await findEvent(events, { eventId, source });
    const wanted = event?.conflicts[Number(conflict) - 1];
    if (!event || !wanted) {
      const found = event === null ? "There is no such event" : `It has ${counted(event.conflicts.length, "conflict")}`;
      throw new OperatorError(`${found}: see authserve events show`, 1);
    }
    const filter = { eventId: event.eventId, source: event.source, conflict: Number(conflict) };
    const { count } = await events.replay(filter, Date.now());
    const newId = DIGEST_PREFIX + wanted.payloadSha256;
    if (count === 0) {
      throw new OperatorError(`It is an event already: authserve events replay ${newId} --source ${event.source}`, 1);
    }
    if (json) printJson({ replayed: 1, eventId: newId });
    else say(`Queued as ${newId}.`);
  });
}

/** Replays all dead letters, page by page, and draws how far it is of `total` when that is not null. Returns how many. */
async function replayDeadLetters(events: EventStore, total: number | null): Promise<number> {
  const progress = createProgress((perSecond) => `${Math.round(perSecond)} events/s`);
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

/** Replays one event. Returns why it was not, or null. */
async function replayOne(events: EventStore, wanted: OneEvent, force: boolean): Promise<string | null> {
  const event = await findEvent(events, wanted);
  if (!event) return "there is no such event";
  const { eventId, source } = event;
  const { count } = await events.replay({ eventId, source, evenIfProcessed: force }, Date.now());
  if (count > 0) return null;
  if (event.status === "processed" && !force)
    return "is processed: its effects would happen again; --force replays it all the same";
  return "is queued already";
}
