import { discardReason, ERASED, type ErasedEvent } from "../events/erasure.ts";
import { isDiscardable } from "../events/open-job-page.ts";
import type { EventName, EventStore } from "../events/store.ts";
import { erasable, eraseContent } from "../storage/erasure.ts";
import type { PayloadCodec } from "../storage/payload-codec.ts";
import { runSync } from "../storage/query.ts";
import type { SyncPort } from "./async-store.ts";
import { atomic, type Database } from "./database.ts";
import { emptyLog } from "./empty-log.ts";
import { eventTally } from "./event-tally.ts";
import { jobDiscard, jobFinder } from "./job-changes.ts";
import { createRun } from "./queries.ts";

/** What only this database has, and its jobs. */
const ERASE = [
  "UPDATE contents SET payload_crc32 = 0 WHERE event = ?",
  `UPDATE jobs SET last_error = CASE WHEN last_error IS NOT NULL THEN '${ERASED}' END WHERE event = ?`,
];

/** An ordering key is a part of a payload: of an ended job. */
export const FORGET_ORDERING_KEY = `
UPDATE jobs SET ordering_key = NULL, in_line = 0 WHERE event = ? AND route = ? AND status <> 'queued'`;

/** Erases the contents of events. `secure_delete` overwrites them in the file. */
export function eventErasure(database: Database, codec: PayloadCodec): SyncPort<Pick<EventStore, "erase" | "sweep">> {
  const run = createRun(database);
  const statements = ERASE.map((text) => database.prepare(text));
  const forgetOrderingKey = database.prepare(FORGET_ORDERING_KEY);
  const { eventOf, jobsOf } = jobFinder(database);
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
    const event = eventOf(name);
    const found = event === undefined ? null : run(erasable(codec, event, name));
    if (event === undefined || found === null) return null;
    const { receivedAt, digest } = found;
    const running = jobsOf(event).filter(({ leaseOwner }) => leaseOwner !== null).length;
    const { eventId, source } = name;
    const erased: ErasedEvent = { source, eventId, receivedAt, payloadSha256: digest.toString("hex"), running };
    if (isDryRun) return erased;
    discardOpen(event, discardReason(reason), now);
    for (const { route } of jobsOf(event)) forgetOrderingKey.run(event, route);
    runSync(eraseContent(event, digest, { reason, now }), run);
    for (const statement of statements) statement.run(event);
    return erased;
  };
  return {
    erase: atomic(database, erase),
    sweep: () => (emptyLog(database) ? null : "write_ahead_log"),
  };
}
