import type { EventStore, RouteRecord } from "../events/store.ts";
import type { Postgres } from "./connection.ts";
import { unblock } from "./ordering.ts";

const ROUTES = `
SELECT route, coalesce(queued, 0) AS queued, coalesce(processed, 0) AS processed, coalesce(failed, 0) AS failed,
  coalesce(discarded, 0) AS discarded, paused_at AS "pausedAt"
FROM (
  SELECT route, sum(queued) AS queued, sum(processed) AS processed, sum(failed) AS failed, sum(discarded) AS discarded
  FROM authserve.tally WHERE route <> '' GROUP BY route) AS counted
FULL JOIN authserve.paused_routes USING (route) ORDER BY route`;

const PAUSE = `INSERT INTO authserve.paused_routes (route, paused_at) VALUES ($1, $2) ON CONFLICT DO NOTHING`;

const RESUME = `DELETE FROM authserve.paused_routes WHERE route = $1`;

type RoutesPort = Pick<EventStore, "routes" | "pauseRoute" | "resumeRoute" | "unblockRoute">;

/** The state of routes: the numbers of their jobs, pauses, and dead letters that keep other jobs waiting. */
export function eventRoutes(postgres: Postgres): RoutesPort {
  return {
    routes: () => postgres.rows<RouteRecord>(ROUTES),
    pauseRoute: async (route, now) => (await postgres.run(PAUSE, [route, now])) === 1,
    resumeRoute: async (route) => (await postgres.run(RESUME, [route])) === 1,
    unblockRoute: (route, now) => postgres.transaction((queries) => unblock(queries, route, now)),
  };
}
