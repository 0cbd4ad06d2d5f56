import type { Surroundings } from "../events/json.ts";
import { isSearched } from "../events/search-window.ts";
import type { Chart } from "../events/stats.ts";
import type {
  Conflict,
  EventDetail,
  EventFilter,
  EventName,
  EventStore,
  EventSummary,
  JobDetail,
  UnavailableRoute,
} from "../events/store.ts";
import type { Waiting } from "../events/waiting.ts";
import type { RouteVerdict } from "../worker/routing.ts";
import type { ReadEvents } from "./find-event.ts";
import { OperationProblem, type RemoteServer } from "./remote.ts";
import { filterOf } from "./remote-changes.ts";

const PAGE = 500;

interface ShownPage {
  items: EventSummary[];
  cursor: string | null;
  newer: string;
}
type ShownConflict = Omit<Conflict, "payload"> & { payload: string | null; payloadBase64?: string };
type ShownJob = Omit<JobDetail, "dueAt" | "attemptsOfBudget" | "pausedAt" | "pausedUntil" | "earlier"> & {
  nextAttemptAt: number | null;
  budget: { used: number; of: number | null };
  waits: { reason: Waiting["reason"]; since: string | null; until: string | null; event: JobDetail["earlier"] } | null;
};
type ShownEvent = Omit<EventDetail, "payload" | "conflicts" | "jobs" | "routes"> & {
  conflicts: ShownConflict[];
  jobs: ShownJob[];
  routes: RouteVerdict[];
};

/** An event of another machine, with what its server says beside it. */
interface RemoteEvent extends EventDetail {
  verdicts: RouteVerdict[];
  around: Surroundings;
}

type RemoteEvents = Pick<EventStore, "list"> & ReadEvents<RemoteEvent>;

/** Reads the events of a server on another machine. */
export function remoteEvents(server: RemoteServer): RemoteEvents {
  async function list({ limit, before, ...filter }: EventFilter) {
    const items: EventSummary[] = [];
    let older: string | null = before ?? null;
    let newest: string | undefined;
    do {
      const query = { ...filterOf(filter), limit: Math.min(PAGE, limit - items.length), cursor: older ?? undefined };
      const page: ShownPage = await server.get("events", query);
      items.push(...page.items);
      older = page.cursor;
      newest ??= page.newer;
      // A search ends a page when its time is over.
    } while (older !== null && items.length < limit && !isSearched(filter));
    return { items, older, newer: newest ?? "" };
  }

  /** Empty if it was erased. */
  async function payloadOf(query: { id: string; source: string | undefined }): Promise<Uint8Array> {
    try {
      return await server.bytes("events/-/payload", query);
    } catch (error) {
      if (error instanceof OperationProblem && error.code === "event_erased") return new Uint8Array();
      throw error;
    }
  }

  return {
    list,
    async get(eventId, source) {
      const query = { id: eventId, source };
      try {
        const [shown, payload] = await Promise.all([server.get<ShownEvent>("events/-", query), payloadOf(query)]);
        return [eventOf(shown, payload)];
      } catch (error) {
        if (error instanceof OperationProblem && error.code === "not_found") return [];
        throw error;
      }
    },
    async startingWith(prefix, source, limit) {
      return (await server.get<{ items: EventName[] }>("event-ids", { prefix, source, limit })).items;
    },
  };
}

function eventOf({ conflicts, jobs, routes: verdicts, ...event }: ShownEvent, payload: Uint8Array): RemoteEvent {
  const attempts = new Map(jobs.map(({ route, budget }) => [route, budget.of]));
  return {
    ...event,
    payload,
    routes: jobs.map(({ route }) => route),
    jobs: jobs.map(jobOf),
    conflicts: conflicts.map(({ payload: text, payloadBase64, ...conflict }) => ({
      ...conflict,
      payload: text === null ? null : bytesOf(text, payloadBase64),
    })),
    verdicts,
    around: {
      unavailable: jobs.flatMap(outageOf),
      attemptsOf: (route) => attempts.get(route) ?? null,
      now: Date.now(),
    },
  };
}

function jobOf({ nextAttemptAt: dueAt, budget, waits, ...job }: ShownJob): JobDetail {
  const pause = waits?.reason === "paused" ? waits : null;
  return {
    ...{ ...job, dueAt, attemptsOfBudget: budget.used, earlier: waits?.event ?? null },
    pausedAt: parsedTime(pause?.since),
    pausedUntil: parsedTime(pause?.until),
  };
}

const parsedTime = (text: string | null | undefined) => (text ? Date.parse(text) : null);

/** The unavailable target that a job waits for. */
function outageOf({ route, waits }: ShownJob): UnavailableRoute[] {
  if (waits?.reason !== "target_unavailable" || waits.since === null) return [];
  return [{ route, since: Date.parse(waits.since), probeAt: parsedTime(waits.until) }];
}

const bytesOf = (text: string, base64: string | undefined) =>
  base64 === undefined ? Buffer.from(text) : Buffer.from(base64, "base64");

type ChartPoint = Chart["points"][number];
type Shown<Counts> = Omit<Counts, "dead_lettered"> & { deadLettered: number };

/** A chart as the API answers it. */
export interface ShownChart {
  items: Shown<ChartPoint>[];
  total: Shown<Chart["total"]>;
  sums: Shown<Chart["sums"][number]>[];
}

/** The chart of an answer. */
export function chartOfAnswer({ items, total, sums }: ShownChart): Chart {
  return { points: items.map(pointOf), total: countsOf(total), sums: sums.map(countsOf) } as Chart;
}

const countsOf = <Counts extends { deadLettered: number }>({ deadLettered: dead_lettered, ...counts }: Counts) => ({
  ...counts,
  dead_lettered,
});

const pointOf = ({ at, ...counts }: Shown<ChartPoint>) => ({ at: Date.parse(String(at)), ...countsOf(counts) });
