import type { EventStore, RouteRecord, UnavailableRoute } from "../events/store.ts";
import { NOTED_FOR_MS } from "../events/unavailable.ts";
import type { SyncPort } from "./async-store.ts";
import { atomic, type Database } from "./database.ts";
import { promotion } from "./ordering.ts";

type RoutesPort = Pick<
  EventStore,
  | "routes"
  | "pauseRoute"
  | "resumeRoute"
  | "noteUnavailable"
  | "unavailableRoutes"
  | "tryRoute"
  | "askedProbes"
  | "unblockRoute"
>;

/** The state of routes: their jobs and pauses, targets, and dead letters that keep other jobs waiting. */
export function eventRoutes(database: Database): SyncPort<RoutesPort> {
  const routes = database.prepare<[number], RouteRecord>(`
    SELECT route, coalesce(queued, 0) AS queued, coalesce(processed, 0) AS processed, coalesce(failed, 0) AS failed,
      coalesce(discarded, 0) AS discarded, paused_at AS pausedAt, until_at AS pausedUntil
    FROM route_tally FULL JOIN (SELECT * FROM paused_routes WHERE until_at IS NULL OR until_at > ?) USING (route)
    ORDER BY route`);
  // A pause that lasts keeps its beginning.
  const pause = database.prepare(`
    INSERT INTO paused_routes (route, paused_at, until_at) VALUES (?, ?, ?)
    ON CONFLICT (route) DO UPDATE SET until_at = excluded.until_at,
      paused_at = iif(until_at <= excluded.paused_at, excluded.paused_at, paused_at)
    WHERE until_at IS NOT excluded.until_at`);
  const resume = database.prepare("DELETE FROM paused_routes WHERE route = ? AND (until_at IS NULL OR until_at > ?)");
  const note = database.prepare(`
    INSERT INTO unavailable_routes (route, owner, since, probe_at, seen_at)
    VALUES (@route, @owner, @since, @probeAt, @now)
    ON CONFLICT (route, owner) DO UPDATE SET since = excluded.since, probe_at = excluded.probe_at,
      seen_at = excluded.seen_at`);
  // The notes of an owner from before now, and those of workers that ended before another time.
  const forget = database.prepare(`
    DELETE FROM unavailable_routes WHERE (owner = @owner AND seen_at < @now) OR seen_at < @endedBefore`);
  const unavailable = database.prepare<[number], UnavailableRoute>(`
    SELECT route, min(since) AS since, min(probe_at) AS probeAt FROM unavailable_routes WHERE seen_at >= ?
    GROUP BY route ORDER BY route`);
  const tryNow = database.prepare("UPDATE unavailable_routes SET try_at = ? WHERE route = ? AND seen_at >= ?");
  // Makes the first job that waits for its next attempt due, unless one is due.
  const prepareProbe = database.prepare(`
    UPDATE jobs SET due_at = @now WHERE route = @route AND due_at > @now AND lease_owner IS NULL AND event = (
      SELECT event FROM jobs WHERE route = +@route AND due_at IS NOT NULL AND lease_owner IS NULL
      ORDER BY due_at LIMIT 1)`);
  const asked = database.prepare<[string], { route: string; askedAt: number }>(
    "SELECT route, try_at AS askedAt FROM unavailable_routes WHERE owner = ? AND try_at IS NOT NULL",
  );
  // Lets the dead letters of a route keep no jobs waiting.
  const unblock = database.prepare<unknown[], { orderingKey: string }>(`
    UPDATE jobs SET in_line = 0 WHERE route = ? AND in_line = 1 AND status = 'failed'
    RETURNING ordering_key AS orderingKey`);
  const promote = promotion(database);

  return {
    routes: (now) => routes.all(now),
    pauseRoute: (route, now, until) => pause.run(route, now, until ?? null).changes === 1,
    resumeRoute: (route, now) => resume.run(route, now).changes === 1,
    noteUnavailable: atomic(database, (owner: string, noted: readonly UnavailableRoute[], now: number) => {
      for (const route of noted) note.run({ ...route, owner, now });
      forget.run({ owner, now, endedBefore: now - NOTED_FOR_MS });
    }),
    unavailableRoutes: (now) => unavailable.all(now - NOTED_FOR_MS),
    tryRoute: atomic(database, (route: string, now: number) => {
      if (tryNow.run(now, route, now - NOTED_FOR_MS).changes === 0) return false;
      prepareProbe.run({ route, now });
      return true;
    }),
    askedProbes: (owner) => asked.all(owner),
    unblockRoute: atomic(database, (route: string, now: number) => {
      const keys = new Set(unblock.all(route).map(({ orderingKey }) => orderingKey));
      for (const orderingKey of keys) promote(route, orderingKey, now);
    }),
  };
}
