import type { EventStore, RouteRecord } from "../events/store.ts";
import type { SyncPort } from "./async-store.ts";
import { atomic, type Database } from "./database.ts";
import { promotion } from "./ordering.ts";

type RoutesPort = Pick<EventStore, "routes" | "pauseRoute" | "resumeRoute" | "unblockRoute">;

/** The state of routes: the numbers of their jobs, pauses, and dead letters that keep other jobs waiting. */
export function eventRoutes(database: Database): SyncPort<RoutesPort> {
  const routes = database.prepare<unknown[], RouteRecord>(`
    SELECT route, coalesce(queued, 0) AS queued, coalesce(processed, 0) AS processed, coalesce(failed, 0) AS failed,
      coalesce(discarded, 0) AS discarded, paused_at AS pausedAt
    FROM route_tally FULL JOIN paused_routes USING (route) ORDER BY route`);
  const pause = database.prepare("INSERT INTO paused_routes (route, paused_at) VALUES (?, ?) ON CONFLICT DO NOTHING");
  const resume = database.prepare("DELETE FROM paused_routes WHERE route = ?");
  // Lets the dead letters of a route keep no jobs waiting.
  const unblock = database.prepare<unknown[], { orderingKey: string }>(`
    UPDATE jobs SET in_line = 0 WHERE route = ? AND in_line = 1 AND status = 'failed'
    RETURNING ordering_key AS orderingKey`);
  const promote = promotion(database);

  return {
    routes: () => routes.all(),
    pauseRoute: (route, now) => pause.run(route, now).changes === 1,
    resumeRoute: (route) => resume.run(route).changes === 1,
    unblockRoute: atomic(database, (route: string, now: number) => {
      const keys = new Set(unblock.all(route).map(({ orderingKey }) => orderingKey));
      for (const orderingKey of keys) promote(route, orderingKey, now);
    }),
  };
}
