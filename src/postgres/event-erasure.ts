import { discardReason, ERASED, type ErasedEvent } from "../events/erasure.ts";
import { isDiscardable } from "../events/open-job-page.ts";
import type { EventStore } from "../events/store.ts";
import { erasable, eraseContent } from "../storage/erasure.ts";
import type { PayloadCodec } from "../storage/payload-codec.ts";
import type { Postgres } from "./connection.ts";
import { discard, findEvent } from "./event-replay.ts";
import type { EventTally } from "./event-tally.ts";
import { type Changes, changeJobs } from "./job-changes.ts";
import { LOCK_CONTENTS } from "./job-rows.ts";
import { runQuery, runStatement } from "./queries.ts";
import { integers } from "./values.ts";

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
        const found = await runStatement(queries, erasable(codec, event, { eventId, source }));
        if (!found) return null;
        const { receivedAt, digest } = found;
        const running = changes.jobsOf(event).filter(({ leaseOwner }) => leaseOwner !== null).length;
        const erased: ErasedEvent = { source, eventId, receivedAt, payloadSha256: digest.toString("hex"), running };
        if (isDryRun) return erased;
        eraseJobs(changes, event, discardReason(reason), now);
        await runQuery(queries, eraseContent(event, digest, { reason, now }));
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
