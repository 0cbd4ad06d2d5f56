import type { UnroutedEvent } from "../events/store.ts";

/** Names the routes that have work with an event. */
export type Routing = (event: UnroutedEvent) => readonly string[];

/** The route that there is without any in the configuration: it takes every event. */
export const DEFAULT_ROUTE = "default";

export const routeToDefault: Routing = () => [DEFAULT_ROUTE];
