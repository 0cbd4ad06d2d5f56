import { setTimeout as delay } from "node:timers/promises";
import { type Purged, purgePages } from "../events/purge-pages.ts";
import type { Retention } from "../events/retention.ts";
import type { EventStore } from "../events/store.ts";
import { createRepeatedError } from "../lib/repeated-error.ts";
import type { Log } from "../log.ts";

/** Removes what retention does not keep, from `start` to `stop`. */
export interface Purger {
  start(): void;
  /** Uses another retention from now on, and purges at once. */
  apply(retention: Retention): void;
  /** Resolves when the running transaction has ended. */
  stop(): Promise<void>;
}

/** Called after each purge with what it has removed, and the time in Unix milliseconds. */
export type OnPurged = (purged: Purged, at: number) => void;

export interface PurgerOptions {
  store: Pick<EventStore, "purge">;
  log: Log;
  /** Whether this purger may work now: of several servers on one database, one does. */
  isOnDuty?: () => Promise<boolean>;
  onPurged?: OnPurged;
  now?: () => number;
}

// Events, and ids, that one transaction removes. Deliveries wait 2 ms for it.
const LIMIT = 100;

// A purge begins at most this often, and at least as often as a tenth of the shortest retention.
const MIN_INTERVAL_MS = 1000;
const MAX_INTERVAL_MS = 60_000;
// A purge also looks at the events that are kept. It rests for this multiple of the time that it took.
const REST = 10;

/** Creates a purger. */
export function createPurger(retention: Retention, options: PurgerOptions): Purger {
  const { store, log, isOnDuty = async () => true, onPurged, now = Date.now } = options;
  let current = retention;
  const fault = createRepeatedError();
  let isStopped = false;
  let rest = new AbortController();
  let running: Promise<void> | undefined;

  async function run(): Promise<void> {
    while (!isStopped) {
      const used = current;
      const startedAt = performance.now();
      await purgeOrLog(used);
      const tookMs = performance.now() - startedAt;
      if (used === current) await pause(Math.max(intervalOf(used), REST * tookMs));
    }
  }

  async function purgeOrLog(used: Retention): Promise<void> {
    try {
      if (await isOnDuty()) await purge(used);
      fault.clear();
    } catch (cause) {
      const error = fault.news(cause);
      if (error !== null) log.error({ event: "purge_error", error }, "old events could not be removed; retrying");
    }
  }

  async function purge(used: Retention): Promise<void> {
    let startedAt = 0;
    const purged = await purgePages(
      (cursor) => {
        startedAt = performance.now();
        return store.purge({ retention: used, now: now(), limit: LIMIT, cursor });
      },
      async () => {
        // Deliveries get at least half of the time.
        await pause(performance.now() - startedAt);
        return !isStopped && used === current && (await isOnDuty());
      },
    );
    if (purged.events + purged.ids > 0) log.info({ event: "events_purged", ...purged }, "old events were removed");
    onPurged?.(purged, now());
  }

  /** Waits, unless the purger is stopped or gets another retention. */
  async function pause(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: rest.signal }).catch(() => {});
  }

  return {
    start() {
      running = run();
    },
    apply(next) {
      current = next;
      rest.abort();
      rest = new AbortController();
    },
    async stop() {
      isStopped = true;
      rest.abort();
      await running;
    },
  };
}

function intervalOf({ processed, failed, idsMs, maxBytes }: Retention): number {
  const shortest = Math.min(processed.forMs, failed.forMs, idsMs);
  const isBySize = [processed, failed].some(({ count, bytes }) => Number.isFinite(Math.min(count, bytes)));
  if (isBySize || Number.isFinite(maxBytes)) return MIN_INTERVAL_MS;
  return Math.max(MIN_INTERVAL_MS, Math.min(MAX_INTERVAL_MS, shortest / 10));
}
