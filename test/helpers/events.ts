import type { Claim, ClaimedJob } from "../../src/events/job.ts";
import type { CountedPage, EventStore, JobFilter, NewEvent } from "../../src/events/store.ts";

export const NOW = 1_800_000_000_000;

/** A new event with some members set by the test, and defaults for the others. */
export function newEvent(changes: Partial<NewEvent> = {}): NewEvent {
  return {
    source: "default",
    eventId: "e-1",
    type: "push",
    bytesSha256: null,
    sameWithinMs: null,
    secret: "env:SECRET",
    contentType: "application/json",
    payload: Buffer.from('{"a":1}'),
    address: "192.0.2.1",
    headers: '{"user-agent":"test"}',
    receivedAt: NOW,
    ...changes,
  };
}

/** The store's numbers of events. */
export const numbersOf = (events: readonly { id: number }[]) => events.map(({ id }) => id);

/** Adds the job of the route `default` to every event without jobs, as a worker does. */
export async function fanOut(store: EventStore): Promise<void> {
  const events = await store.pending(1_000_000);
  if (events.length === 0) return;
  const jobs = events.map(({ id, receivedAt }) => ({
    event: id,
    route: "default",
    dueAt: receivedAt,
    orderingKey: null,
  }));
  await store.addJobs(numbersOf(events), jobs);
}

/** Fans out, then claims with defaults: owner `a`, a lease of 30 seconds, 5 attempts without delays. */
export async function claim(store: EventStore, changes: Partial<Parameters<EventStore["claim"]>[0]> = {}) {
  await fanOut(store);
  return store.claim({
    route: "default",
    owner: "a",
    limit: 10,
    leaseMs: 30_000,
    retryDelaysMs: [0, 0, 0, 0],
    now: NOW,
    ...changes,
  });
}

/** Claims the one due job, even if its lease must expire first. */
export async function claimOne(store: EventStore, changes: Partial<Parameters<EventStore["claim"]>[0]> = {}) {
  let { claimed, expired } = await claim(store, changes);
  if (expired === 1) ({ claimed, expired } = await claim(store, changes));
  const [job] = claimed;
  if (job === undefined || claimed.length > 1) throw new Error(`${claimed.length} jobs were due instead of one`);
  return job;
}

/** Replays the failed jobs that match, at most 1000 events of them. */
export async function replayAll(store: EventStore, now = NOW, filter: Partial<JobFilter> = {}): Promise<CountedPage> {
  return store.replayAll({ status: "failed", ...filter }, now, { limit: 1000 });
}

/** Routes the events of forced replays to these routes. */
export async function reroute(store: EventStore, routes = ["default"], orderingKey: string | null = null) {
  const events = await store.rerouted(1000);
  const jobs = events.flatMap(({ id }) => routes.map((route) => ({ event: id, route, dueAt: NOW, orderingKey })));
  await store.addRerouted(numbersOf(events), jobs, NOW);
  return events.length;
}

/** The claim of a job. */
export function claimOf({ event, route, attempt }: ClaimedJob, owner = "a"): Claim {
  return { event, route, owner, attempt };
}

/** An event and its one job, as one object; undefined without an event. */
export async function eventAndJob(store: EventStore, eventId: string) {
  const [event] = await store.get(eventId);
  return event && { ...event, ...event.jobs[0] };
}
