import type { EventStore } from "../events/store.ts";
import type { Routing } from "./routing.ts";

/** Makes the jobs of events. */
export interface FanOut {
  /** Says that events have come. Those that other processes store are found by polling. */
  nudge(): void;
  /** Whether events may wait for their jobs. */
  isDue(): boolean;
  /** Makes the jobs of up to `limit` events, if any may wait for them. */
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
  let hasCome = true;
  let pollAt = 0;

  async function addJobs(limit: number): Promise<void> {
    const events = await store.unrouted(limit);
    const newest = events.at(-1);
    if (newest === undefined) return;
    const jobs = events.flatMap((event) => {
      // A clock that was set back meanwhile delays nothing.
      const dueAt = Math.min(event.receivedAt, now());
      return routing(event).map((route) => ({ event: event.id, route, dueAt }));
    });
    await store.addJobs(newest.id, jobs);
    if (events.length === limit) hasCome = true;
  }

  const isDue = () => hasCome || now() >= pollAt;

  return {
    nudge() {
      hasCome = true;
    },
    isDue,
    async run(limit) {
      if (!isDue()) return;
      hasCome = false;
      pollAt = now() + pollIntervalMs;
      try {
        await addJobs(limit);
      } catch (error) {
        hasCome = true;
        throw error;
      }
    },
  };
}
