import type { AuditAction } from "../audit/store.ts";
import { readEnvironment } from "../config/env-file.ts";
import { readConfigFile } from "../config/file/config-file.ts";
import { ROUTE_SETTING_NAMES, routesOf } from "../config/routes.ts";
import { type Environment, readSettings } from "../config/settings.ts";
import { readSources } from "../config/sources.ts";
import { OperatorError, SettingsError } from "../errors.ts";
import type { EventStore, UnavailableRoute } from "../events/store.ts";
import { isoTime } from "../lib/iso-time.ts";
import { printable } from "../lib/printable.ts";
import type { Stores } from "../stores.ts";
import type { Source } from "../webhook/source.ts";
import type { Route } from "../worker/route.ts";
import { overviewOfRoutes, type RouteOverview, targetOf } from "../worker/route-overview.ts";
import { makeChange } from "./make-change.ts";
import { durationOption, FOR_BOUNDS, remedyForName } from "./option-values.ts";
import { counted, printJson, say } from "./output.ts";
import { type RemoteOptions, type RemoteServer, remoteServer } from "./remote.ts";
import { withStores } from "./stores.ts";
import { printTable } from "./table.ts";
import { lastingFormat, probeText, timeFormat } from "./time.ts";

/**
 * Prints the routes with the numbers of their jobs, and why they wait. Routes that have jobs and are no longer
 * configured are `gone`.
 */
export async function runRoutesList({ utc, json, ...remote }: ListOptions): Promise<void> {
  const shown = await shownRoutes(remoteServer(remote));
  if (json) return printJson(shown.map(routeJson));
  printTable(
    ["NAME", "STATUS", "QUEUED", "PROCESSED", "FAILED", "HANDLER", { heading: "TARGET", leastWidth: 12 }],
    shown.map(({ name, status, queued, processed, failed, handler, target }) => [
      name,
      status,
      ...[queued, processed, failed].map(String),
      handler ?? "-",
      target === null ? "-" : printable(target),
    ]),
  );
  const now = Date.now();
  const lasting = lastingFormat(utc, now);
  const time = timeFormat(utc, now);
  for (const { name, pausedAt, pausedUntil, unavailableSince, nextProbeAt } of shown) {
    const end = pausedUntil === null ? "" : ` The pause ends ${time(pausedUntil)}.`;
    if (pausedAt !== null)
      say(`${name} has been paused ${lasting(pausedAt)}.${end} To go on: authserve routes resume ${name}`);
    if (unavailableSince === null) continue;
    say(`The target of ${name} has been unavailable ${lasting(unavailableSince)}, ${probeText(nextProbeAt, now)}.`);
    say(`To try it now: authserve routes try ${name}`);
  }
  for (const { name, status, queued, failed } of shown) {
    if (status === "gone")
      say(`${counted(queued + failed, "job")} of ${name} wait until it is in the configuration file again.`);
  }
}

interface ListOptions extends RemoteOptions {
  utc?: boolean;
  json?: boolean;
}

/** The routes of another machine, or of this one. */
async function shownRoutes(server: RemoteServer | null): Promise<ShownRoute[]> {
  if (server !== null) {
    const { routes } = await server.get<{ routes: RemoteRoute[] }>("status");
    return routes.filter((route) => route.configured || isWaiting(route)).map(describeRemote);
  }
  const routes = readRoutes(readEnvironment());
  let shown: ShownRoute[] = [];
  await withStores(async ({ events, now }) => {
    const unavailable = await events.unavailableRoutes(now());
    shown = overviewOfRoutes(routes, await events.routes(now()))
      .filter((route) => route.configured !== null || isWaiting(route))
      .map((route) =>
        describe(
          route,
          unavailable.find((one) => one.route === route.name),
        ),
      );
  });
  return shown;
}

type ShownRoute = ReturnType<typeof describe>;
type RemoteRoute = Omit<ShownRoute, "status"> & { configured: boolean };

function describeRemote({ configured, ...route }: RemoteRoute): ShownRoute {
  const { name, sources, types, handler, target, queued, processed, failed, discarded } = route;
  const { pausedAt, pausedUntil, unavailableSince, nextProbeAt } = route;
  return {
    name,
    status: statusOf(configured, route),
    ...{ sources, types, handler, target },
    ...{ queued, processed, failed, discarded },
    ...{ pausedAt, pausedUntil, unavailableSince, nextProbeAt },
  };
}

function statusOf(
  isConfigured: boolean,
  { pausedAt, unavailableSince }: { pausedAt: number | null; unavailableSince: number | null },
) {
  if (!isConfigured) return "gone";
  if (pausedAt !== null) return "paused";
  return unavailableSince === null ? "active" : "unavailable";
}

/** Pauses a route: its jobs wait, at most for a duration if one is given. Running attempts end as usual. */
export async function runRoutesPause(
  name: string,
  { for: duration, ...remote }: RemoteOptions & { for?: string },
): Promise<void> {
  const forMs = duration === undefined ? undefined : durationOption("--for", duration, FOR_BOUNDS);
  let until = forMs && Date.now() + forMs;
  const isPaused = await changeRoute(
    name,
    remote,
    { path: "routes/pause", body: { forMs }, action: "route.pause" },
    ({ events, now }) => {
      until = forMs && now() + forMs;
      return events.pauseRoute(name, now(), until);
    },
  );
  const end = until === undefined ? "" : `${isoTime(until)} or `;
  say(
    isPaused
      ? `${name} is paused. Its events wait for ${end}authserve routes resume ${name}.`
      : `${name} was paused already.`,
  );
}

/** Ends the pause of a route. */
export async function runRoutesResume(name: string, remote: RemoteOptions): Promise<void> {
  const isResumed = await changeRoute(
    name,
    remote,
    { path: "routes/resume", action: "route.resume" },
    ({ events, now }) => events.resumeRoute(name, now()),
  );
  say(isResumed ? `${name} is resumed.` : `${name} was not paused.`);
}

/** Asks the running servers to try the target of a route now, and not only at the next probe. */
export async function runRoutesTry(name: string, remote: RemoteOptions): Promise<void> {
  const isAsked = await changeRoute(name, remote, { path: "routes/try", action: "route.try" }, ({ events, now }) =>
    events.tryRoute(name, now()),
  );
  say(isAsked ? `A server tries the target of ${name} now.` : `The target of ${name} is not unavailable.`);
}

/** Changes a route by the stores here, or by a request there. Returns whether there was something to change. */
async function changeRoute(
  name: string,
  remote: RemoteOptions,
  { path, body, action }: { path: string; body?: object; action: AuditAction },
  change: (stores: Stores) => Promise<boolean>,
): Promise<boolean> {
  const server = remoteServer(remote);
  if (server !== null) {
    const { routes } = await server.get<{ routes: RemoteRoute[] }>("status");
    requireKnownRoute(
      name,
      routes.map((route) => route.name),
    );
    return (await server.post<{ changed: boolean }>(path, { route: name, ...body })).changed;
  }
  let isChanged = false;
  await withStores(async (stores) => {
    await requireRoute(name, stores.events, stores.now());
    isChanged = await makeChange(stores, {
      action,
      asked: { route: name, ...body },
      make: () => change(stores),
      outcome: (isMade) => (isMade ? {} : null),
    });
  });
  return isChanged;
}

/** Returns the attempts that a route allows; null if the configuration does not tell. */
export function attemptsOfRoutes(): (name: string) => number | null {
  const attempts = new Map<string, number>();
  try {
    for (const { name, retry } of readRoutes(readEnvironment())) attempts.set(name, retry.attempts);
  } catch (error) {
    // An event can be shown without a configuration.
    if (!(error instanceof SettingsError)) throw error;
  }
  return (name) => attempts.get(name) ?? null;
}

export function readRoutes(environment: Environment): Route[] {
  return routesOf(readSettings(environment, ROUTE_SETTING_NAMES), readConfigFile(environment));
}

/** The routes of a configuration file; of the present one if it is undefined. */
export function readRoutesOf(config: string | undefined): Route[] {
  return readRoutes(environmentWith(config));
}

/** The sources of a configuration file; of the present one if it is undefined. */
export function readSourcesOf(config: string | undefined): Source[] {
  return readSources(environmentWith(config));
}

function environmentWith(config: string | undefined): Environment {
  const environment = readEnvironment();
  if (config === undefined) return environment;
  // With routes in the present file it cannot be set, and without them the other file would be refused.
  const { FORWARD_URL: _, ...others } = environment;
  return { ...others, CONFIG_FILE: config };
}

const isWaiting = ({ queued, failed }: Pick<RouteOverview, "queued" | "failed">) => queued + failed > 0;

function describe(
  { name, configured: route, queued, processed, failed, discarded, pausedAt, pausedUntil }: RouteOverview,
  outage: UnavailableRoute | undefined,
) {
  const unavailableSince = outage?.since ?? null;
  return {
    name,
    status: statusOf(route !== null, { pausedAt, unavailableSince }),
    sources: route?.sources ?? null,
    types: route?.types ?? [],
    handler: route?.handler.kind ?? null,
    target: route === null ? null : targetOf(route.handler),
    queued,
    processed,
    failed,
    discarded,
    pausedAt,
    pausedUntil,
    unavailableSince,
    nextProbeAt: outage?.probeAt ?? null,
  };
}

const routeJson = ({ pausedAt, pausedUntil, unavailableSince, nextProbeAt, ...route }: ShownRoute) => ({
  ...route,
  pausedAt: isoTime(pausedAt),
  pausedUntil: isoTime(pausedUntil),
  unavailableSince: isoTime(unavailableSince),
  nextProbeAt: isoTime(nextProbeAt),
});

/**
 * Throws {@link OperatorError} unless a route is configured, or has jobs. A faulty configuration must not prevent a
 * pause.
 */
async function requireRoute(name: string, events: EventStore, now: number): Promise<void> {
  const names = new Set((await events.routes(now)).map(({ route }) => route));
  try {
    for (const route of readRoutes(readEnvironment())) names.add(route.name);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
  }
  requireKnownRoute(name, [...names]);
}

function requireKnownRoute(name: string, known: readonly string[]): void {
  if (!known.includes(name)) throw noSuchRoute(name, known);
}

export function noSuchRoute(name: string, known: readonly string[], kind: "route" | "shadow" = "route"): OperatorError {
  const remedy = remedyForName(name, known, kind === "route" ? "authserve routes list" : "authserve routes shadow");
  return new OperatorError({ found: `There is no ${kind} ${JSON.stringify(name)}`, remedy });
}
