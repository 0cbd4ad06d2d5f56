import { isoTime } from "../lib/iso-time.ts";
import { printable } from "../lib/printable.ts";
import type { OutputOf } from "../operations/operation.ts";
import { listed, pause, resume, tryNow } from "../operations/routes.ts";
import { ifUsable, noSuchRoute } from "./find-source.ts";
import { commandConfiguration, operate, type Perform, withPerformer } from "./operate.ts";
import { durationOption, FOR_BOUNDS } from "./option-values.ts";
import { counted, printJson, say } from "./output.ts";
import type { RemoteOptions } from "./remote.ts";
import { printTable } from "./table.ts";
import { lastingFormat, probeText, timeFormat } from "./time.ts";

type RouteItem = OutputOf<typeof listed>["items"][number];

interface ListOptions extends RemoteOptions {
  utc?: boolean;
  json?: boolean;
}

/**
 * Prints the routes with the numbers of their jobs, and why they wait. Routes that have jobs and are no longer
 * configured are `gone`.
 */
export async function runRoutesList({ utc, json, ...remote }: ListOptions): Promise<void> {
  const { items } = await operate(listed, {}, remote);
  const shown = items.filter(({ configured, queued, failed }) => configured || queued + failed > 0);
  if (json) return printJson(shown.map(routeJson));
  printTable(
    ["NAME", "STATUS", "QUEUED", "PROCESSED", "FAILED", "HANDLER", { heading: "TARGET", leastWidth: 12 }],
    shown.map(({ handler, target, ...route }) => [
      route.name,
      statusOf(route),
      ...[route.queued, route.processed, route.failed].map(String),
      handler ?? "-",
      target === null ? "-" : printable(target),
    ]),
  );
  sayWaiting(shown, utc);
}

/** Says why routes wait, and what to do. */
function sayWaiting(routes: readonly RouteItem[], utc: boolean | undefined): void {
  const now = Date.now();
  const lasting = lastingFormat(utc, now);
  const time = timeFormat(utc, now);
  for (const { name, pausedAt, pausedUntil, unavailableSince, nextProbeAt } of routes) {
    const end = pausedUntil === null ? "" : ` The pause ends ${time(Date.parse(pausedUntil))}.`;
    if (pausedAt !== null)
      say(`${name} has been paused ${lasting(Date.parse(pausedAt))}.${end} To go on: authserve routes resume ${name}`);
    if (unavailableSince === null) continue;
    const since = lasting(Date.parse(unavailableSince));
    const probe = probeText(nextProbeAt === null ? null : Date.parse(nextProbeAt), now);
    say(`The target of ${name} has been unavailable ${since}, ${probe}.`);
    say(`To try it now: authserve routes try ${name}`);
  }
  for (const { name, configured, queued, failed } of routes)
    if (!configured)
      say(`${counted(queued + failed, "job")} of ${name} wait until it is in the configuration file again.`);
}

function statusOf({
  configured,
  pausedAt,
  unavailableSince,
}: Pick<RouteItem, "configured" | "pausedAt" | "unavailableSince">) {
  if (!configured) return "gone";
  if (pausedAt !== null) return "paused";
  return unavailableSince === null ? "active" : "unavailable";
}

/** A route in JSON output. Its members and their order are stable. */
function routeJson(route: RouteItem) {
  const { name, sources, types, handler, target, queued, processed, failed, discarded } = route;
  const { pausedAt, pausedUntil, unavailableSince, nextProbeAt } = route;
  return {
    ...{ name, status: statusOf(route), sources, types, handler, target },
    ...{ queued, processed, failed, discarded },
    ...{ pausedAt, pausedUntil, unavailableSince, nextProbeAt },
  };
}

/** Pauses a route: its jobs wait, at most for a duration if one is given. Running attempts end as usual. */
export async function runRoutesPause(
  route: string,
  { for: duration, ...remote }: RemoteOptions & { for?: string },
): Promise<void> {
  const forMs = duration === undefined ? undefined : durationOption("--for", duration, FOR_BOUNDS);
  await changeRoute(route, remote, async (perform) => {
    const end = forMs === undefined ? "" : `${isoTime(Date.now() + forMs)} or `;
    const { changed } = await perform(pause, { route, forMs });
    say(
      changed
        ? `${route} is paused. Its events wait for ${end}authserve routes resume ${route}.`
        : `${route} was paused already.`,
    );
  });
}

/** Ends the pause of a route. */
export function runRoutesResume(route: string, remote: RemoteOptions): Promise<void> {
  return changeRoute(route, remote, async (perform) => {
    const { changed } = await perform(resume, { route });
    say(changed ? `${route} is resumed.` : `${route} was not paused.`);
  });
}

/** Asks the running servers to try the target of a route now, and not only at the next probe. */
export function runRoutesTry(route: string, remote: RemoteOptions): Promise<void> {
  return changeRoute(route, remote, async (perform) => {
    const { changed } = await perform(tryNow, { route });
    say(changed ? `A server tries the target of ${route} now.` : `The target of ${route} is not unavailable.`);
  });
}

/** Changes a route that is configured, or has jobs. A faulty configuration must not prevent a pause here. */
function changeRoute(name: string, remote: RemoteOptions, change: (perform: Perform) => Promise<void>): Promise<void> {
  const routes = async () => (await ifUsable(commandConfiguration.routes)) ?? [];
  return withPerformer(
    remote,
    async ({ perform }) => {
      const known = (await perform(listed, {})).items.map((route) => route.name);
      if (!known.includes(name)) throw noSuchRoute(name, known);
      await change(perform);
    },
    { routes },
  );
}
