import type { EventStore, UnroutedEvent } from "../events/store.ts";
import type { Routing } from "./routing.ts";

/** Creates the jobs of new events. */
export interface FanOut {
  /** Tells of new events. Events stored by other processes are found by polling. */
  notify(): void;
  /** Whether there may be events without jobs. */
  isDue(): boolean;
  /** Creates the jobs of up to `limit` events, if it is due. Returns the routes that have new jobs. */
  run(limit: number): Promise<ReadonlySet<string>>;
}

export interface FanOutOptions {
  store: Pick<EventStore, "unrouted" | "payloads" | "addJobs">;
  /** The routing of the present routes. */
  routing: () => Routing;
  pollIntervalMs: number;
  now: () => number;
}

/** Creates the fan-out of a worker. */
export function createFanOut({ store, routing, pollIntervalMs, now }: FanOutOptions): FanOut {
  let hasNewEvents = true;
  let pollAt = 0;

  async function addJobs(limit: number): Promise<Set<string>> {
    const events = await store.unrouted(limit);
    const { jobsOf, readsPayload } = routing();
    const routed = await withPayloads(events, readsPayload);
    const newest = routed.at(-1)?.event;
    if (newest === undefined) return new Set();
    const jobs = routed.flatMap(({ event, payload }) => {
      // If the clock was set back since, the job is due now.
      const dueAt = Math.min(event.receivedAt, now());
      return jobsOf(event, payload).map((job) => ({ event: event.id, ...job, dueAt }));
    });
    await store.addJobs(newest.id, jobs);
    if (routed.length === limit || routed.length < events.length) hasNewEvents = true;
    return new Set(jobs.map(({ route }) => route));
  }

  /** The events with the payloads that routing reads, up to the first whose payload did not fit into the answer. */
  async function withPayloads(events: readonly UnroutedEvent[], readsPayload: Routing["readsPayload"]) {
    const read = events.filter(readsPayload).map(({ id }) => id);
    const payloads = read.length === 0 ? [] : await store.payloads(read);
    const payloadOf = new Map(payloads.map((payload, index) => [read[index], payload]));
    const firstMissing = read[payloads.length] ?? Number.POSITIVE_INFINITY;
    return events
      .filter(({ id }) => id < firstMissing)
      .map((event) => ({ event, payload: payloadOf.get(event.id) ?? null }));
  }

  const isDue = () => hasNewEvents || now() >= pollAt;

  return {
    notify() {
      hasNewEvents = true;
    },
    isDue,
    async run(limit) {
      if (!isDue()) return new Set();
      hasNewEvents = false;
      pollAt = now() + pollIntervalMs;
      try {
        return await addJobs(limit);
      } catch (error) {
        hasNewEvents = true;
        throw error;
      }
    },
  };
}
