import type { NewJob } from "../events/job.ts";
import type { EventStore, PendingEvent, Work } from "../events/store.ts";
import { createJudging, type JudgingMark } from "./judging.ts";
import type { RoutedJob, Routing } from "./routing.ts";

interface FanOutOptions {
  store: Pick<EventStore, "pending" | "payloads" | "addJobs" | "rerouted" | "addRerouted">;
  /** The routing of the present routes. */
  routing: () => Routing;
  /** Whether the events of a source that nobody signed take routes. A forced replay gives them to routes anyway. */
  routesCaptured?(source: string): boolean;
  pollIntervalMs: number;
  now: () => number;
  /** Milliseconds of a clock that is never set. */
  monotonic: () => number;
  /** Called for the first event of each source and type that no route takes. */
  onUnrouted?(event: PendingEvent): void;
  /** Called for an event that could not be judged. */
  onSetAside?(event: PendingEvent, reason: string): void;
  /** Of the events that are being judged. */
  mark?: JudgingMark | undefined;
  judgingTimeoutMs?: number | undefined;
}

// Whoever chooses the types of events cannot fill the memory.
const MAX_UNROUTED_KINDS = 1000;

/**
 * Creates the fan-out of a worker: it creates the jobs of new events, and of events that a forced replay gives to the
 * present routes.
 */
export function createFanOut(options: FanOutOptions) {
  const { store, routing, routesCaptured = () => false, pollIntervalMs, now, monotonic, onUnrouted } = options;
  const { onSetAside = () => {}, mark, judgingTimeoutMs } = options;
  const judging = createJudging(mark, judgingTimeoutMs);
  const unroutedKinds = new Set<string>();
  let hasNewEvents = true;
  let mayHaveRerouted = true;
  let pollAt = 0;

  async function addJobs(limit: number): Promise<Set<string>> {
    const events = await store.pending(limit);
    const { routed, jobs } = await route(events, (event) => !event.isCaptured || routesCaptured(event.source));
    if (routed.length === limit || routed.length < events.length) hasNewEvents = true;
    if (routed.length === 0) return new Set();
    await store.addJobs(idsOf(routed), jobs);
    tellUnrouted(routed, jobs);
    return new Set(jobs.map(({ route: name }) => name));
  }

  function tellUnrouted(events: readonly PendingEvent[], jobs: readonly NewJob[]): void {
    if (!onUnrouted) return;
    const taken = new Set(jobs.map(({ event }) => event));
    for (const event of events.filter(({ id, isCaptured }) => !isCaptured && !taken.has(id))) {
      const kind = JSON.stringify([event.source, event.type]);
      if (unroutedKinds.has(kind) || unroutedKinds.size >= MAX_UNROUTED_KINDS) continue;
      unroutedKinds.add(kind);
      onUnrouted(event);
    }
  }

  async function addRerouted(limit: number): Promise<Set<string>> {
    const events = await store.rerouted(limit);
    const { routed, jobs } = await route(events);
    mayHaveRerouted = events.length > 0;
    if (routed.length === 0) return new Set();
    await store.addRerouted(idsOf(routed), jobs, now());
    return new Set(jobs.map(({ route: name }) => name));
  }

  /** The jobs of the first of these events, as many as have their payloads in one answer of the store. */
  async function route(
    events: readonly PendingEvent[],
    takesRoutes: (event: PendingEvent) => boolean = () => true,
  ): Promise<{ routed: PendingEvent[]; jobs: NewJob[] }> {
    const { jobsOf, setAside, readsPayload } = routing();
    const taking = (event: PendingEvent, jobs: () => RoutedJob[]) => {
      if (!takesRoutes(event)) return [];
      // If the clock was set back since, the event counts as received now.
      const receivedAt = Math.min(event.receivedAt, now());
      return jobs().map(({ delayMs, ...job }) => ({
        event: event.id,
        ...job,
        dueAt: job.failure === undefined ? receivedAt + delayMs : now(),
      }));
    };
    const read = await withPayloads(events, readsPayload);
    const judged = await judging.firstOf(
      read,
      ({ event, payload }) => taking(event, () => jobsOf(event, payload)),
      ({ event }, reason) => {
        onSetAside(event, reason);
        return taking(event, () => setAside(event, reason));
      },
    );
    return { routed: read.slice(0, judged.length).map(({ event }) => event), jobs: judged.flat() };
  }

  /** The events with the payloads that routing reads, up to the first whose payload did not fit into the answer. */
  async function withPayloads(events: readonly PendingEvent[], readsPayload: Routing["readsPayload"]) {
    const read = events.filter(readsPayload).map(({ id }) => id);
    const payloads = read.length === 0 ? [] : await store.payloads(read);
    const payloadOf = new Map(payloads.map((payload, index) => [read[index], payload]));
    const firstMissing = read[payloads.length] ?? Number.POSITIVE_INFINITY;
    return events
      .filter(({ id }) => id < firstMissing)
      .map((event) => ({ id: event.id, event, payload: payloadOf.get(event.id) ?? null }));
  }

  const isDue = () => hasNewEvents || mayHaveRerouted || monotonic() >= pollAt;

  return {
    /** Tells of new events, or that there may be rerouted ones. Those of other processes are found by polling. */
    notify(work: Work): void {
      if (work === "events") hasNewEvents = true;
      else mayHaveRerouted = true;
    },
    /** Whether there may be events without jobs. */
    isDue,
    /** Creates the jobs of up to `limit` events, if it is due. Returns the routes that have new jobs. */
    async run(limit: number): Promise<ReadonlySet<string>> {
      if (!isDue()) return new Set();
      if (monotonic() >= pollAt) mayHaveRerouted = true;
      hasNewEvents = false;
      pollAt = monotonic() + pollIntervalMs;
      try {
        const routes = await addJobs(limit);
        return mayHaveRerouted ? routes.union(await addRerouted(limit)) : routes;
      } catch (error) {
        hasNewEvents = true;
        throw error;
      }
    },
  };
}

const idsOf = (events: readonly PendingEvent[]) => events.map(({ id }) => id);
