import { DIGEST_PREFIX } from "../events/event.ts";
import { numbered } from "../events/free-number.ts";
import { isDiscardable, isReplayable } from "../events/open-job-page.ts";
import type { EventName, EventStore } from "../events/store.ts";
import type { SyncPort } from "./async-store.ts";
import { atomic, type Database } from "./database.ts";
import { freeNumbers } from "./free-numbers.ts";
import { type ChangeJob, jobChanges, jobDiscard, jobRequeue } from "./job-changes.ts";
import { FORGET_SENT_BODY } from "./sent-bodies.ts";

type ReplayPort = Pick<
  EventStore,
  "replay" | "replayAll" | "replayConflict" | "replayRepeat" | "discard" | "discardAll"
>;

/**
 * Queues failed jobs again, or discards jobs: those of one event, or those that match a filter. Makes events of what is
 * kept beside one.
 */
export function eventReplay(database: Database): SyncPort<ReplayPort> {
  // `@conflict` counts from 1.
  const replayConflict = database.prepare(`
    INSERT INTO events (source, event_id, type, received_at, size)
    SELECT @source, '${DIGEST_PREFIX}' || lower(hex(payload_sha256)), type, @now,
      length(payload) + octet_length(headers)
    FROM conflicts WHERE event = (SELECT id FROM events WHERE event_id = @eventId AND source = @source)
    ORDER BY first_at, payload_sha256 LIMIT 1 OFFSET @conflict - 1
    ON CONFLICT DO NOTHING`);
  const addConflictContents = database.prepare(`
    INSERT INTO contents (event, secret, address, headers, content_type, payload_crc32, payload)
    SELECT @event, secret, address, headers, content_type, payload_crc32, payload
    FROM conflicts WHERE event = (SELECT id FROM events WHERE event_id = @eventId AND source = @source)
    ORDER BY first_at, payload_sha256 LIMIT 1 OFFSET @conflict - 1`);
  const repeatOf = database.prepare<unknown[], { event: number; number: number }>(`
    SELECT repeats.event, number FROM repeats JOIN events ON id = repeats.event
    WHERE events.event_id = ? AND source = ? AND repeats.event_id = ? AND replayed_as IS NULL`);
  const replayRepeat = database.prepare(`
    INSERT INTO events (source, event_id, type, received_at, size)
    SELECT source, @eventId, repeats.type, @now, length(payload) + octet_length(repeats.headers)
    FROM repeats JOIN contents USING (event) JOIN events ON id = event WHERE event = @event AND number = @number
    ON CONFLICT DO NOTHING`);
  const addRepeatContents = database.prepare(`
    INSERT INTO contents (event, secret, address, headers, content_type, payload_crc32, payload)
    SELECT @added, repeats.secret, repeats.address, repeats.headers, repeats.content_type, payload_crc32, payload
    FROM repeats JOIN contents USING (event) WHERE event = @event AND number = @number`);
  const repeatReplayed = database.prepare("UPDATE repeats SET replayed_as = ? WHERE event = ? AND number = ?");
  const discard = jobDiscard(database);
  const freeNumberOf = freeNumbers(database);
  const requeue = jobRequeue(database);
  const replayable = jobChanges(database, isReplayable);
  const discardable = jobChanges(database, isDiscardable);

  const forgetBody = database.prepare(FORGET_SENT_BODY);

  const replaying =
    (now: number, forgetsBodies = false): ChangeJob =>
    (event, job, moves) => {
      if (forgetsBodies) forgetBody.run(event, job.route);
      requeue(event, job, job.orderingKey, now, moves);
    };
  const discarding =
    (reason: string, now: number): ChangeJob =>
    (event, job, moves) =>
      discard(event, job, { reason, now }, moves);

  return {
    replay: (name, now, forgetsBodies) => replayable.ofEvent(name, replaying(now, forgetsBodies)),
    replayAll: (filter, now, page, forgetsBodies) => replayable.ofPage(filter, page, replaying(now, forgetsBodies)),
    discard: (name, reason, now) => discardable.ofEvent(name, discarding(reason, now)),
    discardAll: (filter, reason, now, page) => discardable.ofPage(filter, page, discarding(reason, now)),
    replayConflict: atomic(database, (event: EventName, conflict: number, now: number) => {
      const { changes: added, lastInsertRowid } = replayConflict.run({ ...event, conflict, now });
      if (added > 0) addConflictContents.run({ ...event, conflict, event: lastInsertRowid });
      return added > 0;
    }),
    replayRepeat: atomic(database, ({ eventId, source }: EventName, repeat: string, now: number) => {
      const found = repeatOf.get(eventId, source, repeat);
      if (!found) return null;
      let newId = repeat;
      let added = replayRepeat.run({ ...found, eventId: newId, now });
      if (added.changes === 0) {
        newId = numbered(repeat, freeNumberOf({ eventId: repeat, source }));
        added = replayRepeat.run({ ...found, eventId: newId, now });
      }
      addRepeatContents.run({ ...found, added: added.lastInsertRowid });
      repeatReplayed.run(newId, found.event, found.number);
      return newId;
    }),
  };
}
