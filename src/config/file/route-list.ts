import { isMap, shown } from "./faults.ts";
import { lineAt, type Reading } from "./reading.ts";
import { type RouteEntry, readRoute } from "./route-entry.ts";

/** Reads `routes`. `sources` are the names of all sources; null if they cannot be read. */
export function readRouteList(entries: unknown, sources: ReadonlySet<string> | null, reading: Reading): RouteEntry[] {
  const { faults, context } = reading;
  const path = ["routes"];
  if (context.environment.FORWARD_URL !== undefined) {
    const message =
      "found beside the setting FORWARD_URL, expected one of them: remove it, or write it as to: in a route";
    faults.push({ path, at: "key", message });
  }
  if (!Array.isArray(entries)) {
    faults.push({ path, message: `found ${shown(entries, path)}, expected a list of routes` });
    return [];
  }
  if (entries.length === 0) faults.push({ path, message: "found an empty list, expected at least one route" });
  const firstUses = new Map<string, number>();
  return entries.flatMap((entry, index) => {
    const base = [...path, index];
    const route = readRoute(entry, base, sources, reading);
    const name = isMap(entry) ? entry.name : undefined;
    if (typeof name !== "string") return route ?? [];
    const first = firstUses.get(name);
    if (first !== undefined) {
      const line = lineAt(reading, [...path, first, "name"]);
      const at = [...base, "name"];
      const message = `found ${shown(name, at)} a second time, after line ${line}, expected another name`;
      faults.push({ path: at, message });
    }
    firstUses.set(name, first ?? index);
    return route ?? [];
  });
}
