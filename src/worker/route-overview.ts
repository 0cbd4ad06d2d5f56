import type { RouteRecord } from "../events/store.ts";
import type { HandlerConfig, Route } from "./route.ts";

/** A route with the numbers of its jobs. `configured` is null if its jobs are there and it is not configured. */
export interface RouteOverview extends Omit<RouteRecord, "route"> {
  name: string;
  configured: Route | null;
}

const NO_JOBS = { queued: 0, processed: 0, failed: 0, discarded: 0, pausedAt: null, pausedUntil: null };

/** The configured routes, and then others that have records. */
export function overviewOfRoutes(routes: readonly Route[], records: readonly RouteRecord[]): RouteOverview[] {
  const byName = new Map(records.map(({ route, ...record }) => [route, record]));
  const configured = new Map(routes.map((route) => [route.name, route]));
  return [...new Set([...configured.keys(), ...byName.keys()])].map((name) => ({
    name,
    configured: configured.get(name) ?? null,
    ...(byName.get(name) ?? NO_JOBS),
  }));
}

/** What a handler sends events to, as text. */
export function targetOf(handler: HandlerConfig): string | null {
  switch (handler.kind) {
    case "http":
      return handler.url;
    case "exec":
      return handler.command.join(" ");
    case "module":
      return handler.file;
    case "log":
      return null;
  }
}
