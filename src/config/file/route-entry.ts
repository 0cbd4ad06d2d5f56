import * as v from "valibot";
import { nearest } from "../../lib/nearest.ts";
import type { StatusRange } from "../../worker/decide.ts";
import type { Route } from "../../worker/route.ts";
import { faultsOf, isMap, type PathFault, shown, unknownKeys } from "./faults.ts";
import { type KnownRoute, readHandler } from "./handler-entry.ts";
import { knownKeys } from "./known-keys.ts";
import type { Reading } from "./reading.ts";
import { Accepted, HANDLER_NAMES, JsonPath, PATH_EXPECTATION, RouteSchema } from "./route-schema.ts";
import type { Path } from "./yaml-document.ts";

/** A route of the file. What is undefined comes from the settings. */
export interface RouteEntry extends Omit<Route, "timeoutMs" | "retry" | "concurrency"> {
  timeoutMs?: number | undefined;
  retry: RetryEntry;
  concurrency?: number | undefined;
}

/** The retries of a route. With `delaysMs`, only `jitter` and `giveUpOn` are besides. */
export interface RetryEntry {
  attempts?: number | undefined;
  backoff?: "exponential" | "linear" | undefined;
  delayMs?: number | undefined;
  maxDelayMs?: number | undefined;
  delaysMs?: readonly number[] | undefined;
  jitter?: number | undefined;
  giveUpOn?: readonly StatusRange[] | undefined;
}

/** Reads a route. `sources` are the names of all sources; null if they cannot be read. Null if the route has faults. */
export function readRoute(
  entry: unknown,
  base: Path,
  sources: ReadonlySet<string> | null,
  reading: Reading,
): RouteEntry | null {
  const { faults } = reading;
  const before = faults.length;
  if (!isMap(entry)) {
    faults.push({ path: base, message: `found ${shown(entry, base)}, expected a map with name and a handler` });
    return null;
  }
  faults.push(...unknownKeys(entry, RouteSchema, base));
  // Read apart, because valibot leaves out names such as `constructor`.
  const known = knownKeys({ ...entry, when: undefined }, RouteSchema, base, faults);
  const when = readWhen(entry.when, [...base, "when"], faults);
  const handlers = HANDLER_NAMES.filter((name) => name in entry);
  const handler = readHandler(handlers, known, base, reading);
  if (sources) faults.push(...unknownSources(known.source, sources, [...base, "source"]));
  if (isMap(entry.retry)) faults.push(...retryFaults(entry.retry, known.retry, handlers, [...base, "retry"]));
  if ("whenStuck" in entry && !("orderBy" in entry)) {
    faults.push({
      path: [...base, "whenStuck"],
      at: "key",
      message: "found without orderBy, expected both or neither",
    });
  }
  const { name } = known;
  if (faults.length > before || name === undefined || handler === null) return null;
  return {
    name,
    sources: known.source === undefined ? null : [known.source].flat(),
    types: [known.types ?? []].flat(),
    when,
    orderBy: known.orderBy ?? null,
    whenStuck: known.whenStuck ?? "block",
    handler,
    timeoutMs: (known.http ?? known.exec ?? known.module)?.timeout,
    retry: retryOf(known.retry),
    concurrency: known.concurrency,
    ratePerSecond: known.rate ?? null,
  };
}

function readWhen(when: unknown, path: Path, faults: PathFault[]): Route["when"] {
  if (when === undefined) return [];
  if (!isMap(when)) {
    faults.push({ path, message: `found ${shown(when, path)}, expected a map of paths and values` });
    return [];
  }
  return Object.entries(when).flatMap(([name, accepted]) => {
    const below = [...path, name];
    if (!v.is(JsonPath, name)) {
      faults.push({ path: below, at: "key", message: `found ${shown(name, below)}, ${PATH_EXPECTATION}` });
    }
    const { success, output, issues = [] } = v.safeParse(Accepted, accepted);
    faults.push(...faultsOf(issues, below));
    return success ? [{ path: name, values: [output].flat() }] : [];
  });
}

function unknownSources(source: KnownRoute["source"] = [], known: ReadonlySet<string>, path: Path): PathFault[] {
  return [source].flat().flatMap((name, index) => {
    if (known.has(name)) return [];
    const meant = nearest(name, [...known]);
    const hint = meant === undefined ? "" : ` (did you mean ${meant}?)`;
    const at = typeof source === "string" ? path : [...path, index];
    return [{ path: at, message: `found ${shown(name, at)}, expected the name of a source${hint}` }];
  });
}

/** What `delays` replaces. */
const COMPUTED = ["attempts", "backoff", "delay", "maxDelay"];

function retryFaults(
  retry: Record<string, unknown>,
  { delay, maxDelay }: NonNullable<KnownRoute["retry"]> = {},
  handlers: readonly string[],
  path: Path,
): PathFault[] {
  const faults: PathFault[] = [];
  const fault = (key: string, message: string, at?: "key") =>
    void faults.push({ path: [...path, key], message, ...(at && { at }) });
  for (const key of "delays" in retry ? COMPUTED.filter((name) => name in retry) : []) {
    fault(key, "found beside delays, expected one of them", "key");
  }
  if (delay !== undefined && maxDelay !== undefined && maxDelay < delay) {
    fault("maxDelay", `found ${shown(retry.maxDelay, path)}, expected at least delay, which is ${retry.delay}`);
  }
  const isHttp = handlers.some((name) => name === "http" || name === "to");
  if ("giveUpOn" in retry && !isHttp && handlers[0] !== undefined) {
    fault("giveUpOn", `found beside ${handlers[0]}, expected http or to`, "key");
  }
  return faults;
}

function retryOf(retry: KnownRoute["retry"] = {}): RetryEntry {
  const { attempts, backoff, delay: delayMs, maxDelay: maxDelayMs, delays: delaysMs, jitter, giveUpOn } = retry;
  return { attempts, backoff, delayMs, maxDelayMs, delaysMs, jitter, giveUpOn };
}
