import type { UnroutedEvent } from "../events/store.ts";

/** Returns the routes that process an event. */
export type Routing = (event: UnroutedEvent) => readonly string[];

/** The one route while none can be configured. It takes every event. */
export const DEFAULT_ROUTE = "default";

export const routeToDefault: Routing = () => [DEFAULT_ROUTE];
