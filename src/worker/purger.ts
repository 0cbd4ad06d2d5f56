import { setTimeout as delay } from "node:timers/promises";
import { type Purged, purgePages } from "../events/pages.ts";
import type { Retention } from "../events/retention.ts";
import type { EventStore } from "../events/store.ts";
import { createRepeatedError } from "../lib/repeat.ts";
import type { Log } from "../log.ts";

/** Called after each purge with what it has removed, and the time in Unix milliseconds. */
export type OnPurged = (purged: Purged, at: number) => void;

interface PurgerOptions {
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
// After a purge that removed events because of a limit there are soon more of them.
const OVER_LIMIT_INTERVAL_MS = 100;
// A purge also looks at the events that are kept. It rests for this multiple of the time that this took.
const REST = 10;

/**
 * How long to rest after a purge, in milliseconds. `fruitlessMs` is the time of the pages that have found nothing to
 * remove. While a limit is exceeded, the purger goes on.
 */
export function restMs(retention: Retention, { events, fruitlessMs }: { events: number; fruitlessMs: number }): number {
  const interval = isLimited(retention) && events > 0 ? OVER_LIMIT_INTERVAL_MS : intervalOf(retention);
  return Math.min(MAX_INTERVAL_MS, Math.max(interval, REST * fruitlessMs));
}

/** Creates what removes the events that retention does not keep, from `start` to `stop`. */
export function createPurger(retention: Retention, options: PurgerOptions) {
  const { store, log, isOnDuty = async () => true, onPurged, now = Date.now } = options;
  let current = retention;
  const fault = createRepeatedError();
  let isStopped = false;
  let rest = new AbortController();
  let running: Promise<void> | undefined;

  async function run(): Promise<void> {
    while (!isStopped) {
      const used = current;
      const done = await purgeOrLog(used);
      if (used === current) await pause(restMs(used, done));
    }
  }

  async function purgeOrLog(used: Retention): Promise<{ events: number; fruitlessMs: number }> {
    try {
      const done = (await isOnDuty()) ? await purge(used) : NOTHING_DONE;
      fault.clear();
      return done;
    } catch (cause) {
      const error = fault.news(cause);
      if (error !== null) log.error({ event: "purge_error", error }, "old events could not be removed; retrying");
      return NOTHING_DONE;
    }
  }

  async function purge(used: Retention): Promise<{ events: number; fruitlessMs: number }> {
    let tookMs = 0;
    let fruitlessMs = 0;
    let isUrgent = false;
    const { cursor: _, ...purged } = await purgePages(
      async (cursor) => {
        const startedAt = performance.now();
        const page = await store.purge({ retention: used, now: now(), limit: LIMIT, cursor });
        tookMs = performance.now() - startedAt;
        fruitlessMs += page.fruitlessMs;
        isUrgent = page.events > 0 && isLimited(used);
        return page;
      },
      async () => {
        // Deliveries get at least half of the time. While a limit is exceeded, they only go between two pages: under
        // load most of the time of a page is that of the transactions before it.
        if (!isUrgent) await pause(tookMs);
        return !isStopped && used === current && (await isOnDuty());
      },
    );
    if (purged.events + purged.ids > 0) log.info({ event: "events_purged", ...purged }, "old events were removed");
    onPurged?.(purged, now());
    return { events: purged.events, fruitlessMs };
  }

  /** Waits, unless the purger is stopped or gets another retention. */
  async function pause(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: rest.signal }).catch(() => {});
  }

  return {
    start(): void {
      running = run();
    },
    /** Uses another retention from now on, and purges at once. */
    apply(next: Retention): void {
      current = next;
      rest.abort();
      rest = new AbortController();
    },
    /** Resolves when the running transaction has ended. */
    async stop(): Promise<void> {
      isStopped = true;
      rest.abort();
      await running;
    },
  };
}

const NOTHING_DONE = { events: 0, fruitlessMs: 0 };

/** Whether a retention limits the number or the size of what is kept. */
function isLimited({ processed, failed, maxBytes }: Retention): boolean {
  const limits = [processed, failed].flatMap(({ count, bytes }) => [count, bytes]);
  return Number.isFinite(Math.min(maxBytes, ...limits));
}

function intervalOf(retention: Retention): number {
  if (isLimited(retention)) return MIN_INTERVAL_MS;
  const { processed, failed, idsMs } = retention;
  const shortest = Math.min(processed.forMs, failed.forMs, idsMs);
  return Math.max(MIN_INTERVAL_MS, Math.min(MAX_INTERVAL_MS, shortest / 10));
}
