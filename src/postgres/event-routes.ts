import type { EventStore, RouteRecord, UnavailableRoute } from "../events/store.ts";
import { NOTED_FOR_MS } from "../events/unavailable.ts";
import type { Postgres } from "./connection.ts";
import { unblock } from "./ordering.ts";
import { columnsOf, integers, texts } from "./values.ts";

/** The routes that have jobs or are paused: now. */
const ROUTES = `
SELECT route, coalesce(queued, 0) AS queued, coalesce(processed, 0) AS processed, coalesce(failed, 0) AS failed,
  coalesce(discarded, 0) AS discarded, paused_at AS "pausedAt", until_at AS "pausedUntil"
FROM (
  SELECT route, sum(queued) AS queued, sum(processed) AS processed, sum(failed) AS failed, sum(discarded) AS discarded
  FROM authserve.tally WHERE route <> '' GROUP BY route) AS counted
FULL JOIN (SELECT * FROM authserve.paused_routes WHERE until_at IS NULL OR until_at > $1) AS paused USING (route)
ORDER BY route`;

/** Pauses a route: route, now, until. A pause that lasts keeps its beginning. */
const PAUSE = `
INSERT INTO authserve.paused_routes AS pause (route, paused_at, until_at) VALUES ($1, $2, $3)
ON CONFLICT (route) DO UPDATE SET until_at = excluded.until_at,
  paused_at = CASE WHEN pause.until_at <= excluded.paused_at THEN excluded.paused_at ELSE pause.paused_at END
WHERE pause.until_at IS DISTINCT FROM excluded.until_at`;

/** Ends a pause: route, now. */
const RESUME = `DELETE FROM authserve.paused_routes WHERE route = $1 AND (until_at IS NULL OR until_at > $2)`;

/** Notes that targets are unavailable: owner, now, then routes, starts, probes. */
const NOTE_UNAVAILABLE = `
INSERT INTO authserve.unavailable_routes (route, owner, since, probe_at, seen_at)
SELECT route, $1, since, probe_at, $2 FROM unnest($3::text[], $4::bigint[], $5::bigint[]) AS noted (route, since, probe_at)
ON CONFLICT (route, owner) DO UPDATE SET since = excluded.since, probe_at = excluded.probe_at, seen_at = excluded.seen_at`;

/** Forgets the notes of an owner from before a time, and those of workers that ended before another time. */
const FORGET_UNAVAILABLE = `
DELETE FROM authserve.unavailable_routes WHERE (owner = $1 AND seen_at < $2) OR seen_at < $3`;

/** The routes whose targets are unavailable, as noted since a time: time. */
const UNAVAILABLE = `
SELECT route, min(since) AS since, min(probe_at) AS "probeAt" FROM authserve.unavailable_routes WHERE seen_at >= $1
GROUP BY route ORDER BY route`;

/** Asks for a probe of a route: now, route, the oldest note that counts. */
const TRY_ROUTE = `UPDATE authserve.unavailable_routes SET try_at = $1 WHERE route = $2 AND seen_at >= $3`;

/** Makes the first job of a route due that waits for its next attempt, unless one is due: route, now. */
const PREPARE_PROBE = `
WITH first AS MATERIALIZED (
  SELECT event FROM authserve.jobs WHERE route = $1 AND due_at IS NOT NULL AND lease_owner IS NULL
  ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED)
UPDATE authserve.jobs AS job SET due_at = $2 FROM first
WHERE job.event = first.event AND job.route = $1 AND due_at > $2 AND lease_owner IS NULL`;

/** The probes that an owner is asked for: owner. */
const ASKED_PROBES = `
SELECT route, try_at AS "askedAt" FROM authserve.unavailable_routes WHERE owner = $1 AND try_at IS NOT NULL`;

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
export function eventRoutes(postgres: Postgres): RoutesPort {
  return {
    routes: (now) => postgres.rows<RouteRecord>(ROUTES, [now]),
    pauseRoute: async (route, now, until) => (await postgres.run(PAUSE, [route, now, until ?? null])) === 1,
    resumeRoute: async (route, now) => (await postgres.run(RESUME, [route, now])) === 1,
    noteUnavailable: (owner, noted, now) =>
      postgres.transaction(async (queries) => {
        const columns = columnsOf(noted, { route: texts, since: integers, probeAt: integers });
        if (noted.length > 0) void queries.run(NOTE_UNAVAILABLE, [owner, now, ...columns]);
        await queries.run(FORGET_UNAVAILABLE, [owner, now, now - NOTED_FOR_MS]);
      }),
    unavailableRoutes: (now) => postgres.rows<UnavailableRoute>(UNAVAILABLE, [now - NOTED_FOR_MS]),
    tryRoute: (route, now) =>
      postgres.transaction(async (queries) => {
        if ((await queries.run(TRY_ROUTE, [now, route, now - NOTED_FOR_MS])) === 0) return false;
        await queries.run(PREPARE_PROBE, [route, now]);
        return true;
      }),
    askedProbes: (owner) => postgres.rows(ASKED_PROBES, [owner]),
    unblockRoute: (route, now) => postgres.transaction((queries) => unblock(queries, route, now)),
  };
}
