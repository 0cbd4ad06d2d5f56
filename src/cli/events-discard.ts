import { OperatorError } from "../errors.ts";
import { discardReasonOf, LONGEST_REASON } from "../events/discard-reason.ts";
import type { EventStore } from "../events/store.ts";
import { whyNotDiscarded } from "../events/untaken.ts";
import { printable } from "../lib/printable.ts";
import { type BulkOptions, jobFilter, takePages } from "./bulk.ts";
import { findEvent, type OneEvent } from "./find-event.ts";
import { counted, printJson, say } from "./output.ts";
import { withStores } from "./stores.ts";

interface DiscardOptions extends BulkOptions {
  reason: string;
  status?: "failed" | "queued";
}

/** Discards the jobs of events that failed or wait, by id or by a filter. The exit code is 1 if an event has none. */
export function runEventsDiscard(eventIds: string[], options: DiscardOptions): Promise<void> {
  const { source, status, json } = options;
  const reason = discardReasonOf(options.reason);
  if (reason === null) {
    const remedy = `give a text of 1 to ${LONGEST_REASON} characters`;
    throw new OperatorError({ found: "--reason is not usable", remedy });
  }
  const filter = jobFilter(eventIds, options, status ?? "failed");
  return withStores(async ({ events, now }) => {
    const refused: { eventId: string; reason: string }[] = [];
    let discarded = 0;
    if (filter) {
      const taken = await takePages(
        (page) => events.discardAll(filter, reason, now(), page),
        (page) => events.count(filter, page),
        options,
      );
      if (taken === null) return;
      discarded = taken;
    }
    for (const eventId of new Set(eventIds)) {
      const why = await discardOne(events, { eventId, source }, reason, now());
      if (why === null) discarded++;
      else refused.push({ eventId, reason: why });
    }
    if (json) printJson({ discarded, refused });
    else {
      for (const one of refused) say(`${printable(one.eventId)}: ${one.reason}`);
      say(`Discarded ${counted(discarded, "event")}.`);
    }
    if (refused.length > 0) process.exitCode = 1;
  });
}

/** Discards one event. Returns the reason if it has nothing to discard, else null. */
async function discardOne(events: EventStore, wanted: OneEvent, reason: string, now: number): Promise<string | null> {
  const event = await findEvent(events, wanted);
  if (!event) return "there is no such event";
  if ((await events.discard(event, reason, now)) > 0) return null;
  return whyNotDiscarded(event);
}
