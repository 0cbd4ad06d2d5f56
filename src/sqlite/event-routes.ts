import type { EventStore, RouteRecord } from "../events/store.ts";
import { NOTED_FOR_MS } from "../events/unavailable.ts";
import type { SyncPort } from "./async-store.ts";
import { atomic, type Database } from "./database.ts";
import { promotion } from "./ordering.ts";

type RoutesPort = Pick<EventStore, "routes" | "tryRoute" | "unblockRoute">;

/** The state of routes: their jobs, probes of their targets, and dead letters that keep other jobs waiting. */
export function eventRoutes(database: Database): SyncPort<RoutesPort> {
  const routes = database.prepare<[number], RouteRecord>(`
    SELECT route, coalesce(queued, 0) AS queued, coalesce(processed, 0) AS processed, coalesce(failed, 0) AS failed,
      coalesce(discarded, 0) AS discarded, paused_at AS pausedAt, until_at AS pausedUntil
    FROM route_tally FULL JOIN (SELECT * FROM paused_routes WHERE until_at IS NULL OR until_at > ?) USING (route)
    ORDER BY route`);
  const tryNow = database.prepare("UPDATE unavailable_routes SET try_at = ? WHERE route = ? AND seen_at >= ?");
  // Makes the first job that waits for its next attempt due, unless one is due.
  const prepareProbe = database.prepare(`
    UPDATE jobs SET due_at = @now WHERE route = @route AND due_at > @now AND lease_owner IS NULL AND event = (
      SELECT event FROM jobs WHERE route = +@route AND due_at IS NOT NULL AND lease_owner IS NULL
      ORDER BY due_at LIMIT 1)`);
  // Lets the dead letters of a route keep no jobs waiting.
  const unblock = database.prepare<unknown[], { orderingKey: string }>(`
    UPDATE jobs SET in_line = 0 WHERE route = ? AND in_line = 1 AND status = 'failed'
    RETURNING ordering_key AS orderingKey`);
  const promote = promotion(database);

  return {
    routes: (now) => routes.all(now),
    tryRoute: atomic(database, (route: string, now: number) => {
      if (tryNow.run(now, route, now - NOTED_FOR_MS).changes === 0) return false;
      prepareProbe.run({ route, now });
      return true;
    }),
    unblockRoute: atomic(database, (route: string, now: number) => {
      const keys = new Set(unblock.all(route).map(({ orderingKey }) => orderingKey));
      for (const orderingKey of keys) promote(route, orderingKey, now);
    }),
  };
}
