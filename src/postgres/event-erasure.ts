import { hash } from "node:crypto";
import { discardReason, ERASED, type ErasedEvent } from "../events/erasure.ts";
import { isDiscardable } from "../events/open-job-page.ts";
import type { EventStore } from "../events/store.ts";
import { orNull, type PayloadCodec, ROW, type RowContent } from "../storage/payload-codec.ts";
import type { Postgres } from "./connection.ts";
import { discard, findEvent } from "./event-replay.ts";
import type { EventTally } from "./event-tally.ts";
import { type Changes, changeJobs } from "./job-changes.ts";
import { LOCK_CONTENTS } from "./job-rows.ts";
import { integers } from "./values.ts";

/** The content of an event that is not erased: event. */
const FOUND = `
SELECT received_at AS "receivedAt", headers AS text, payload AS bytes FROM authserve.contents JOIN authserve.events ON id = contents.event
WHERE contents.event = $1 AND NOT EXISTS (SELECT 1 FROM authserve.erasures WHERE erasures.event = $1)`;

/** Notes an erasure: event, time, reason, digest. */
const ADD = "INSERT INTO authserve.erasures (event, erased_at, reason, payload_sha256) VALUES ($1, $2, $3, $4)";

/** What has data of an event, besides its jobs: event. The identity stays. */
const ERASE = [
  `UPDATE authserve.contents SET address = '', headers = '{}', content_type = '', payload = '' WHERE event = $1`,
  "DELETE FROM authserve.conflicts WHERE event = $1",
  "DELETE FROM authserve.repeats WHERE event = $1",
  "DELETE FROM authserve.sent_bodies WHERE event = $1",
  "DELETE FROM authserve.shadow_differences WHERE event = $1",
  "DELETE FROM authserve.reroutes WHERE event = $1",
  `UPDATE authserve.attempts SET error = CASE WHEN error IS NOT NULL THEN '${ERASED}' END, response = NULL
    WHERE event = $1`,
];

type Found = Pick<ErasedEvent, "receivedAt"> & RowContent;

/** Erases the contents of events. Their old rows stay in the files of PostgreSQL until a vacuum. */
export function eventErasure(
  postgres: Postgres,
  tally: EventTally,
  codec: PayloadCodec,
): Pick<EventStore, "erase" | "sweep"> {
  return {
    async erase({ eventId, source }, { reason, now, isDryRun = false }) {
      const event = await findEvent(postgres, { eventId, source });
      if (event === null) return null;
      return changeJobs(postgres, tally, { events: [event], now }, async (changes, queries) => {
        void queries.run(LOCK_CONTENTS, [integers([event])]);
        const [found] = await queries.rows<Found>(FOUND, [event]);
        if (!found) return null;
        const { receivedAt } = found;
        // Without the key, the digest is that of the encrypted bytes.
        const { bytes } = orNull(() => codec.open(ROW.contents(source, eventId), found)) ?? found;
        const digest = hash("sha256", bytes, "buffer");
        const running = changes.jobsOf(event).filter(({ leaseOwner }) => leaseOwner !== null).length;
        const erased: ErasedEvent = { source, eventId, receivedAt, payloadSha256: digest.toString("hex"), running };
        if (isDryRun) return erased;
        eraseJobs(changes, event, discardReason(reason), now);
        for (const text of ERASE) void queries.run(text, [event]);
        void queries.run(ADD, [event, Math.round(now), reason, digest]);
        return erased;
      });
    },
    sweep: async () => "dead_rows",
  };
}

/** An ordering key is a part of a payload: an ended job loses it. A running one is marked, see {@link changeJobs}. */
function eraseJobs(changes: Changes, event: number, reason: string, now: number): void {
  for (const job of changes.jobsOf(event)) {
    if (isDiscardable(job)) discard(changes, job, reason, now);
    if (job.status === "queued") changes.change(job, { lastError: ERASED });
    else changes.change(job, { lastError: job.lastError === null ? null : ERASED, orderingKey: null });
  }
}
