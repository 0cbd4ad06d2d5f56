import type { ShadowRoute } from "../../worker/shadow/shadows.ts";
import { HANDLER_NAMES, readHandler, timeoutOf } from "./handler.ts";
import type { Reading } from "./reading.ts";
import type { RouteKeys } from "./route.ts";
import { hintOf, shown } from "./shape.ts";
import { readTransform } from "./transform.ts";

/** A shadow of the file. What is undefined comes from the settings. */
export interface ShadowEntry extends Omit<ShadowRoute, "timeoutMs" | "concurrency"> {
  timeoutMs?: number | undefined;
  concurrency?: number | undefined;
}

/** Keys of routes that choose events, or when attempts are made. A shadow has these from its route. */
const OF_ROUTE = ["source", "types", "when", "delay", "orderBy", "whenStuck", "retry", "rate"] as const;

const isHttp = (entry: RouteKeys) => "http" in entry || "to" in entry;

/** Reads those of `routes` that are shadows. Their shape is known, and their names have been checked. */
export function readShadows(entries: readonly (RouteKeys | undefined)[], reading: Reading): ShadowEntry[] {
  const routes = new Map<string, RouteKeys>();
  for (const entry of entries) if (entry?.name && !entry.shadow && isHttp(entry)) routes.set(entry.name, entry);
  return entries.flatMap((entry, index) => {
    return entry?.shadow ? (readShadow(entry, routes, reading.at(index)) ?? []) : [];
  });
}

function readShadow(entry: RouteKeys, routes: ReadonlyMap<string, RouteKeys>, reading: Reading): ShadowEntry | null {
  const { name, transform, concurrency, shadow: { of, ignore = [] } = {} } = entry;
  for (const one of OF_ROUTE.filter((key) => key in entry))
    reading
      .at(one)
      .fault("found beside shadow, which gets the events of its route once each, expected one of them", "key");
  const names = HANDLER_NAMES.filter((one) => one in entry);
  const handler = readHandler(names, entry, reading);
  if (handler !== null && handler.kind !== "http")
    reading.at(handler.kind).fault("found beside shadow, expected http, whose answers can be compared", "key");
  const route = of === undefined ? undefined : routes.get(of);
  if (of !== undefined && route === undefined) {
    const place = reading.at("shadow", "of");
    place.fault(
      `found ${shown(of, place.path)}, expected the name of a route with http${hintOf(of, [...routes.keys()])}`,
    );
  }
  const expression = transform ? readTransform(transform, reading.at("transform")) : null;
  if (name === undefined || of === undefined || route === undefined || handler?.kind !== "http") return null;
  return {
    ...{ name, of, ignore, handler, concurrency },
    transform: expression,
    ofTransform: route.transform !== undefined,
    timeoutMs: timeoutOf(names, entry),
  };
}
