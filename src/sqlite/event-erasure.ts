import { hash } from "node:crypto";
import { discardReason, ERASED, type ErasedEvent } from "../events/erasure.ts";
import { isDiscardable } from "../events/open-job-page.ts";
import type { EventName, EventStore } from "../events/store.ts";
import { orNull, type PayloadCodec, ROW, type RowContent } from "../storage/payload-codec.ts";
import type { SyncPort } from "./async-store.ts";
import { atomic, type Database } from "./database.ts";
import { emptyLog } from "./empty-log.ts";
import { eventTally } from "./event-tally.ts";
import { jobDiscard, jobFinder } from "./job-changes.ts";

const FOUND = `
SELECT id, received_at AS receivedAt, headers AS text, payload AS bytes FROM events JOIN contents ON contents.event = id
WHERE event_id = ? AND source = ? AND NOT EXISTS (SELECT 1 FROM erasures WHERE erasures.event = id)`;

const ADD = "INSERT INTO erasures (event, erased_at, reason, payload_sha256) VALUES (?, ?, ?, ?)";

/** What has data of an event. Its identity and its jobs stay. */
const ERASE = [
  `UPDATE contents SET address = '', headers = '{}', content_type = '', payload_crc32 = 0, payload = x''
    WHERE event = ?`,
  "DELETE FROM conflicts WHERE event = ?",
  "DELETE FROM repeats WHERE event = ?",
  "DELETE FROM sent_bodies WHERE event = ?",
  "DELETE FROM shadow_differences WHERE event = ?",
  "DELETE FROM reroutes WHERE event = ?",
  `UPDATE attempts SET error = CASE WHEN error IS NOT NULL THEN '${ERASED}' END, response = NULL WHERE event = ?`,
  `UPDATE jobs SET last_error = CASE WHEN last_error IS NOT NULL THEN '${ERASED}' END WHERE event = ?`,
];

/** An ordering key is a part of a payload: of an ended job. */
export const FORGET_ORDERING_KEY = `
UPDATE jobs SET ordering_key = NULL, in_line = 0 WHERE event = ? AND route = ? AND status <> 'queued'`;

/** Erases the contents of events. `secure_delete` overwrites them in the file. */
export function eventErasure(database: Database, codec: PayloadCodec): SyncPort<Pick<EventStore, "erase" | "sweep">> {
  const find = database.prepare<unknown[], RowContent & { id: number; receivedAt: number }>(FOUND);
  const add = database.prepare(ADD);
  const statements = ERASE.map((text) => database.prepare(text));
  const forgetOrderingKey = database.prepare(FORGET_ORDERING_KEY);
  const { jobsOf } = jobFinder(database);
  const discard = jobDiscard(database);
  const tally = eventTally(database);

  function discardOpen(event: number, reason: string, now: number): void {
    tally.count((moves) => {
      const before = tally.statusOf(event);
      const jobs = jobsOf(event).filter(isDiscardable);
      for (const job of jobs) discard(event, job, { reason, now }, moves);
      if (jobs.length > 0) moves.event(event, before, tally.statusOf(event));
    });
  }

  const erase = (name: EventName, { reason, now, isDryRun = false }: Parameters<EventStore["erase"]>[1]) => {
    const { eventId, source } = name;
    const found = find.get(eventId, source);
    if (!found) return null;
    const { id: event, receivedAt } = found;
    // Without the key, the digest is that of the encrypted bytes.
    const { bytes } = orNull(() => codec.open(ROW.contents(source, eventId), found)) ?? found;
    const digest = hash("sha256", bytes, "buffer");
    const running = jobsOf(event).filter(({ leaseOwner }) => leaseOwner !== null).length;
    const erased: ErasedEvent = { source, eventId, receivedAt, payloadSha256: digest.toString("hex"), running };
    if (isDryRun) return erased;
    discardOpen(event, discardReason(reason), now);
    for (const { route } of jobsOf(event)) forgetOrderingKey.run(event, route);
    for (const statement of statements) statement.run(event);
    add.run(event, now, reason, digest);
    return erased;
  };
  return {
    erase: atomic(database, erase),
    sweep: () => (emptyLog(database) ? null : "write_ahead_log"),
  };
}
