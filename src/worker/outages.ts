import type { EventStore, UnavailableRoute } from "../events/store.ts";
import { NOTE_EVERY_MS } from "../events/unavailable.ts";
import type { Log } from "../log.ts";
import { createStoreLoop } from "./store-loop.ts";

interface OutagesOptions {
  store: Pick<EventStore, "noteUnavailable" | "askedProbes">;
  owner: string;
  /** The routes whose targets are unavailable now. */
  read: () => UnavailableRoute[];
  /** Makes the next probe of a route at once. */
  tryNow: (route: string) => void;
  pollIntervalMs: number;
  log: Log;
  now: () => number;
}

// The times are computed anew at each look, and may differ by rounding.
const SAME_WITHIN_MS = 100;

/** Creates the notes of a worker. While every target is available, it leaves the store alone. */
export function createOutages(options: OutagesOptions) {
  const { store, owner, read, tryNow, pollIntervalMs, log, now } = options;
  let noted: UnavailableRoute[] = [];
  let notedAt = Number.NEGATIVE_INFINITY;
  /** When the last probe was asked for, by route. */
  const answered = new Map<string, number>();

  async function answer(): Promise<void> {
    for (const { route, askedAt } of await store.askedProbes(owner)) {
      if (answered.get(route) === askedAt) continue;
      answered.set(route, askedAt);
      tryNow(route);
    }
  }

  async function note(routes: UnavailableRoute[]): Promise<void> {
    const isRecent = now() - notedAt < NOTE_EVERY_MS;
    if (isSame(routes, noted) && (isRecent || routes.length === 0)) return;
    // Notes of the same millisecond would not replace each other.
    notedAt = Math.max(now(), notedAt + 1);
    await store.noteUnavailable(owner, routes, notedAt);
    noted = routes;
  }

  const loop = createStoreLoop({
    async step() {
      if (noted.length > 0) await answer();
      await note(read());
      return noted.length === 0 ? Number.POSITIVE_INFINITY : now() + pollIntervalMs;
    },
    pollIntervalMs,
    mustYield: () => false,
    onFault: (error) => log.error({ event: "worker_error", error }, "unavailable targets could not be noted; retrying"),
    now,
  });

  return {
    start: loop.start,
    /** Looks at once. */
    wake: loop.wake,
    async stop(): Promise<void> {
      await loop.stop();
      try {
        await note([]);
      } catch {
        // The note is soon too old.
      }
    },
  };
}

function isSame(one: readonly UnavailableRoute[], other: readonly UnavailableRoute[]): boolean {
  return (
    one.length === other.length &&
    one.every(({ route, since, probeAt }, place) => {
      const before = other[place];
      return before?.route === route && isNear(since, before.since) && isNear(probeAt, before.probeAt);
    })
  );
}

const isNear = (one: number | null, other: number | null) =>
  one === null || other === null ? one === other : Math.abs(one - other) < SAME_WITHIN_MS;
