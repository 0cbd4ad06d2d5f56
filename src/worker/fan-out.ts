import type { EventStore } from "../events/store.ts";
import type { Routing } from "./routing.ts";

/** Creates the jobs of new events. */
export interface FanOut {
  /** Tells of new events. Events stored by other processes are found by polling. */
  notify(): void;
  /** Whether there may be events without jobs. */
  isDue(): boolean;
  /** Creates the jobs of up to `limit` events, if it is due. */
  run(limit: number): Promise<void>;
}

export interface FanOutOptions {
  store: Pick<EventStore, "unrouted" | "addJobs">;
  routing: Routing;
  pollIntervalMs: number;
  now: () => number;
}

/** Creates the fan-out of a worker. */
export function createFanOut({ store, routing, pollIntervalMs, now }: FanOutOptions): FanOut {
  let hasNewEvents = true;
  let pollAt = 0;

  async function addJobs(limit: number): Promise<void> {
    const events = await store.unrouted(limit);
    const newest = events.at(-1);
    if (newest === undefined) return;
    const jobs = events.flatMap((event) => {
      // If the clock was set back since, the job is due now.
      const dueAt = Math.min(event.receivedAt, now());
      return routing(event).map((route) => ({ event: event.id, route, dueAt }));
    });
    await store.addJobs(newest.id, jobs);
    if (events.length === limit) hasNewEvents = true;
  }

  const isDue = () => hasNewEvents || now() >= pollAt;

  return {
    notify() {
      hasNewEvents = true;
    },
    isDue,
    async run(limit) {
      if (!isDue()) return;
      hasNewEvents = false;
      pollAt = now() + pollIntervalMs;
      try {
        await addJobs(limit);
      } catch (error) {
        hasNewEvents = true;
        throw error;
      }
    },
  };
}
