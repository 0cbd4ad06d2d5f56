import { OperatorError } from "../errors.ts";
import { printable } from "../lib/printable.ts";
import { CHANGED, replay } from "../operations/replay.ts";
import { type BulkOptions, jobFilter, runBulk } from "./bulk.ts";
import { findEvent, noSuchEvent } from "./find-event.ts";
import { withPerformer } from "./operate.ts";
import { wholeNumber } from "./option-values.ts";
import { printJson, say } from "./output.ts";

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
    operation: replay,
    input: { force, transform },
    filter,
    explained: (reason) =>
      reason === "is already processed" ? `${reason}; to process it a second time, use --force` : reason,
    member: "replayed",
    done: (events) => `Queued ${events} again.`,
  });
}

const MAX_CONFLICT = 999_999_999;

/** Stores a conflict or a repeat of an event as a new event, and queues it. */
function replayConflict(eventIds: string[], conflict: string, options: ReplayOptions): Promise<void> {
  const [eventId, ...others] = eventIds;
  if (eventId === undefined || others.length > 0 || options.force) {
    throw new OperatorError({ found: "--conflict is not usable here", remedy: "give one event id, and no --force" });
  }
  const number = wholeNumber("--conflict", conflict, MAX_CONFLICT);
  return withPerformer(options, async ({ perform }) => {
    const event = await findEvent(perform, { eventId, source: options.source });
    if (!event) throw noSuchEvent(eventId);
    const { source } = event;
    const replayed = await perform(replay, { ids: [event.eventId], source, conflict: number });
    const [refused] = replayed.refused;
    if (refused) throw notReplayed(refused.reason, { source, eventId: replayed.eventId });
    const newId = replayed.eventId ?? "";
    if (options.json) printJson({ replayed: 1, eventId: newId });
    else say(`Queued as ${printable(newId)}.`);
  });
}

/** `eventId` is that of the event that the conflict is already. */
function notReplayed(reason: string, { source, eventId }: { source: string; eventId: string | undefined }) {
  if (eventId !== undefined) {
    const remedy = `run authserve events replay ${printable(eventId)} --source ${source}`;
    return new OperatorError({ found: "It is an event already", remedy }, 1);
  }
  const what = reason === CHANGED ? "it" : "them";
  return new OperatorError({ found: `The event ${reason}`, remedy: `run authserve events show to see ${what}` }, 1);
}
