import { countedAs, type JobStatus, type Status } from "./event.ts";
import { attemptStat, createStatCounts, type StatCounts } from "./stats.ts";

/** What counts need of an event. `size` is that of the payload and the headers in bytes. */
export interface Origin {
  source: string;
  receivedAt: number;
  size: number;
}

/** Collects the moves of a transaction between statuses. */
export interface Moves {
  /** `size` is that of the payload and the headers in bytes. */
  event(from: Status, to: Status, size: number): void;
  /** An event is removed, but its id is kept. */
  eventRemoved(from: Status, size: number): void;
  idsRemoved(count: number): void;
  /** `from` is null for a new job. */
  job(route: string, from: JobStatus | null, to: JobStatus): void;
  /** A job is removed with its event. */
  removed(route: string, from: JobStatus): void;
  /** An attempt has ended, of a job of an event with this origin. */
  attempt(...args: Parameters<typeof attemptStat>): void;
  /** The differences of each route, and of the events under an empty name. */
  readonly differences: ReadonlyMap<string, Differences>;
  readonly stats: StatCounts;
}

/** `processed` counts discarded and unrouted events, too. */
const NONE = {
  queued: 0,
  processed: 0,
  failed: 0,
  discarded: 0,
  queuedBytes: 0,
  processedBytes: 0,
  failedBytes: 0,
  unrouted: 0,
  conflicts: 0,
  ids: 0,
};

export type Differences = typeof NONE;

export const MEMBERS = Object.keys(NONE) as (keyof Differences)[];

/** The name under which events are counted. No route has it. */
export const EVENTS = "";

/** Creates an empty collection, with the statistics of the transaction. */
export function createMoves(stats = createStatCounts()): Moves {
  const differences = new Map<string, Differences>();
  const of = (route: string): Differences => {
    const known = differences.get(route) ?? { ...NONE };
    differences.set(route, known);
    return known;
  };
  function count(status: Status, by: 1 | -1, size: number): void {
    const events = of(EVENTS);
    const counted = countedAs(status);
    events[counted] += by;
    events[`${counted}Bytes`] += by * size;
    if (status === "discarded" || status === "unrouted") events[status] += by;
  }

  return {
    event(from, to, size) {
      if (from === to) return;
      count(from, -1, size);
      count(to, 1, size);
    },
    eventRemoved: (from, size) => count(from, -1, size),
    idsRemoved(count) {
      of(EVENTS).ids -= count;
    },
    job(route, from, to) {
      const jobs = of(route);
      if (from !== null) jobs[from]--;
      jobs[to]++;
    },
    removed: (route, from) => void of(route)[from]--,
    attempt: (origin, ended) => stats.add(attemptStat(origin, ended)),
    differences,
    stats,
  };
}
