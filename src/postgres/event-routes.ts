import type { EventStore, RouteRecord } from "../events/store.ts";
import { NOTED_FOR_MS } from "../events/unavailable.ts";
import type { Postgres } from "./connection.ts";
import { unblock } from "./ordering.ts";

/** The routes that have jobs or are paused: now. */
const ROUTES = `
SELECT route, coalesce(queued, 0) AS queued, coalesce(processed, 0) AS processed, coalesce(failed, 0) AS failed,
  coalesce(discarded, 0) AS discarded, paused_at AS "pausedAt", until_at AS "pausedUntil"
FROM (
  SELECT route, sum(queued) AS queued, sum(processed) AS processed, sum(failed) AS failed, sum(discarded) AS discarded
  FROM authserve.tally WHERE route <> '' GROUP BY route) AS counted
FULL JOIN (SELECT * FROM authserve.paused_routes WHERE until_at IS NULL OR until_at > $1) AS paused USING (route)
ORDER BY route`;

/** Asks for a probe of a route: now, route, the oldest note that counts. */
const TRY_ROUTE = `UPDATE authserve.unavailable_routes SET try_at = $1 WHERE route = $2 AND seen_at >= $3`;

/** Makes the first job of a route due that waits for its next attempt, unless one is due: route, now. */
const PREPARE_PROBE = `
WITH first AS MATERIALIZED (
  SELECT event FROM authserve.jobs WHERE route = $1 AND due_at IS NOT NULL AND lease_owner IS NULL
  ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED)
UPDATE authserve.jobs AS job SET due_at = $2 FROM first
WHERE job.event = first.event AND job.route = $1 AND due_at > $2 AND lease_owner IS NULL`;

type RoutesPort = Pick<EventStore, "routes" | "tryRoute" | "unblockRoute">;

/** The state of routes: their jobs, probes of their targets, and dead letters that keep other jobs waiting. */
export function eventRoutes(postgres: Postgres): RoutesPort {
  return {
    routes: (now) => postgres.rows<RouteRecord>(ROUTES, [now]),
    tryRoute: (route, now) =>
      postgres.transaction(async (queries) => {
        if ((await queries.run(TRY_ROUTE, [now, route, now - NOTED_FOR_MS])) === 0) return false;
        await queries.run(PREPARE_PROBE, [route, now]);
        return true;
      }),
    unblockRoute: (route, now) => postgres.transaction((queries) => unblock(queries, route, now)),
  };
}
