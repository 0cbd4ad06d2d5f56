import type { EventStore, RouteRecord } from "../events/store.ts";
import type { SyncPort } from "./async-store.ts";
import { atomic, type Database } from "./database.ts";
import * as sql from "./events-sql.ts";

type RoutesPort = Pick<EventStore, "routes" | "pauseRoute" | "resumeRoute" | "unblockRoute">;

/** The state of routes: the numbers of their jobs, pauses, and dead letters that keep other jobs waiting. */
export function eventRoutes(database: Database): SyncPort<RoutesPort> {
  const routes = database.prepare<unknown[], RouteRecord>(sql.ROUTES);
  const pause = database.prepare(sql.PAUSE);
  const resume = database.prepare(sql.RESUME);
  const unblock = database.prepare<unknown[], { orderingKey: string }>(sql.UNBLOCK);
  const promote = database.prepare(sql.PROMOTE);

  return {
    routes: () => routes.all(),
    pauseRoute: (route, now) => pause.run(route, now).changes === 1,
    resumeRoute: (route) => resume.run(route).changes === 1,
    unblockRoute: atomic(database, (route: string, now: number) => {
      const keys = new Set(unblock.all(route).map(({ orderingKey }) => orderingKey));
      for (const orderingKey of keys) promote.run({ route, orderingKey, now });
    }),
  };
}
