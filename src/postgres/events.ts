import type { EventStore } from "../events/store.ts";
import { withWakeUps } from "../events/wake-ups.ts";
import { eventParts } from "../storage/event-parts.ts";
import { type PayloadCodec, PLAIN_CODEC } from "../storage/payload-codec.ts";
import { type Postgres, sqlState } from "./connection.ts";
import { eventAppend } from "./event-append.ts";
import { eventArrivals } from "./event-arrivals.ts";
import { eventClaims } from "./event-claims.ts";
import { eventErasure } from "./event-erasure.ts";
import { eventFanOut } from "./event-fan-out.ts";
import { eventHistory } from "./event-history.ts";
import { eventReads } from "./event-reads.ts";
import { eventReplay } from "./event-replay.ts";
import { eventReroute } from "./event-reroute.ts";
import { eventRetention } from "./event-retention.ts";
import { eventRoutes } from "./event-routes.ts";
import { eventTally } from "./event-tally.ts";
import { onPostgres } from "./queries.ts";
import { FULL } from "./sql-states.ts";
import { statReads } from "./stats.ts";

/** A write that changes nothing else: it fails on a full disk, and on a server that is read-only. */
const TEST_WRITE = `
INSERT INTO authserve.metadata (key, value) VALUES ('last_write_check', clock_timestamp()::text)
ON CONFLICT (key) DO UPDATE SET value = excluded.value`;

const PING = "SELECT 1";

/**
 * The event store on a database that the caller opens and closes. `onAppendFailed` is called when deliveries were not
 * stored.
 */
export function createPostgresEventStore(
  postgres: Postgres,
  onAppendFailed = () => {},
  codec: PayloadCodec = PLAIN_CODEC,
): EventStore {
  const tally = eventTally(postgres);
  const append = eventAppend(postgres, tally, codec);
  /** Whether the last append found no room. A read would not show that. */
  let isFull = false;

  return withWakeUps({
    async append(batch) {
      try {
        const results = await append(batch);
        isFull = false;
        return results;
      } catch (error) {
        isFull = sqlState(error) === FULL;
        onAppendFailed();
        throw error;
      }
    },
    ...eventFanOut(postgres, tally, codec),
    ...eventClaims(postgres, tally, codec),
    ...eventArrivals(postgres),
    ...eventHistory(postgres, codec),
    ...onPostgres(postgres, eventParts(codec)),
    ...eventReplay(postgres, tally, codec),
    ...eventErasure(postgres, tally, codec),
    ...eventReroute(postgres, tally),
    ...eventRetention(postgres, tally),
    ...eventRoutes(postgres),
    ...eventReads(postgres, codec),
    ...statReads(postgres),
    backlog: tally.backlog,
    async check() {
      await postgres.run(isFull ? TEST_WRITE : PING);
      isFull = false;
    },
    close: postgres.close,
  });
}
