import type { EventStore, UnavailableRoute } from "../events/store.ts";
import { NOTED_FOR_MS } from "../events/unavailable.ts";
import { change, changed, type QueryPort, rows } from "./query.ts";

/** Pauses a route: route, now, until. A pause that lasts keeps its beginning. */
const PAUSE = `
INSERT INTO authserve.paused_routes AS pause (route, paused_at, until_at) VALUES ($1, $2, $3)
ON CONFLICT (route) DO UPDATE SET until_at = excluded.until_at,
  paused_at = CASE WHEN pause.until_at <= excluded.paused_at THEN excluded.paused_at ELSE pause.paused_at END
WHERE pause.until_at IS DISTINCT FROM excluded.until_at`;

/** Ends a pause: route, now. */
const RESUME = "DELETE FROM authserve.paused_routes WHERE route = $1 AND (until_at IS NULL OR until_at > $2)";

/** Notes that a target is unavailable: route, owner, its start, the next probe, now. */
const NOTE = `
INSERT INTO authserve.unavailable_routes (route, owner, since, probe_at, seen_at) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (route, owner) DO UPDATE SET since = excluded.since, probe_at = excluded.probe_at, seen_at = excluded.seen_at`;

/** Forgets the notes of an owner from before a time, and those of workers that ended before another time. */
const FORGET = "DELETE FROM authserve.unavailable_routes WHERE (owner = $1 AND seen_at < $2) OR seen_at < $3";

/** The routes whose targets are unavailable, as noted since a time: time. */
const UNAVAILABLE = `
SELECT route, min(since) AS since, min(probe_at) AS "probeAt" FROM authserve.unavailable_routes WHERE seen_at >= $1
GROUP BY route ORDER BY route`;

/** The probes that an owner is asked for: owner. */
const ASKED = `
SELECT route, try_at AS "askedAt" FROM authserve.unavailable_routes WHERE owner = $1 AND try_at IS NOT NULL`;

/** What is noted of routes. */
export type RouteNotes = Pick<
  EventStore,
  "pauseRoute" | "resumeRoute" | "noteUnavailable" | "unavailableRoutes" | "askedProbes"
>;

/** Keeps the pauses of routes, and which of their targets are unavailable. */
export const routeNotes: QueryPort<RouteNotes> = {
  pauseRoute: (route, now, until) => change(PAUSE, route, now, until ?? null).as((count) => count === 1),
  resumeRoute: (route, now) => change(RESUME, route, now).as((count) => count === 1),
  *noteUnavailable(owner, noted, now) {
    for (const { route, since, probeAt } of noted) yield* changed(NOTE, route, owner, since, probeAt, now);
    yield* changed(FORGET, owner, now, now - NOTED_FOR_MS);
  },
  unavailableRoutes: (now) => rows<UnavailableRoute>(UNAVAILABLE, now - NOTED_FOR_MS),
  askedProbes: (owner) => rows<{ route: string; askedAt: number }>(ASKED, owner),
};
