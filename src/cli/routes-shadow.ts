import { readEnvironment } from "../config/env-file.ts";
import { readConfigFile } from "../config/file/config-file.ts";
import { ROUTE_SETTING_NAMES, shadowsOf } from "../config/routes.ts";
import { readSettings } from "../config/settings.ts";
import { OperatorError } from "../errors.ts";
import type { ComparisonCounts, KeptDifference } from "../events/shadow.ts";
import { isoTime } from "../lib/iso-time.ts";
import { printable } from "../lib/printable.ts";
import { makeChange } from "./make-change.ts";
import { counted, printJson, say } from "./output.ts";
import { type RemoteOptions, type RemoteServer, remoteServer } from "./remote.ts";
import { noSuchRoute } from "./routes.ts";
import { withStores } from "./stores.ts";
import { printTable } from "./table.ts";
import { timeFormat } from "./time.ts";

interface ShadowOptions extends RemoteOptions {
  reset?: boolean;
  utc?: boolean;
  json?: boolean;
}

interface ShownShadow extends ComparisonCounts {
  name: string;
  of: string;
  ignore: readonly string[];
  target: string;
}

/** Prints the shadows with the numbers of their comparisons, or the differences of one. `--reset` forgets them. */
export async function runRoutesShadow(name: string | undefined, options: ShadowOptions): Promise<void> {
  const { reset, utc, json, ...remote } = options;
  const server = remoteServer(remote);
  if (reset && (name === undefined || server !== null))
    throw new OperatorError({ found: "--reset is not usable here", remedy: "name a shadow, without --server" });
  const shadows = await readShadows(server);
  if (name === undefined) return json ? printJson(shadows) : printShadows(shadows);
  const shadow = shadows.find((one) => one.name === name);
  if (shadow === undefined)
    throw noSuchRoute(
      name,
      shadows.map((one) => one.name),
      "shadow",
    );
  if (reset) return resetShadow(name);
  const differences = await readDifferences(server, name);
  if (json) return printJson({ ...shadow, differences: differences.map((one) => ({ ...one, at: isoTime(one.at) })) });
  printDifferences(shadow, differences, timeFormat(utc, Date.now()));
}

async function readShadows(server: RemoteServer | null): Promise<ShownShadow[]> {
  if (server !== null) return (await server.get<{ items: ShownShadow[] }>("shadows")).items;
  const environment = readEnvironment();
  const configured = shadowsOf(readSettings(environment, ROUTE_SETTING_NAMES), readConfigFile(environment));
  let shadows: ShownShadow[] = [];
  await withStores(async ({ events }) => {
    shadows = await Promise.all(
      configured.map(async ({ name, of, ignore, handler }) => ({
        ...{ name, of, ignore, target: handler.url },
        ...(await events.comparisons(name)),
      })),
    );
  });
  return shadows;
}

async function readDifferences(server: RemoteServer | null, name: string): Promise<KeptDifference[]> {
  if (server !== null) {
    type Items = (Omit<KeptDifference, "at"> & { at: string })[];
    const { items } = await server.get<{ items: Items }>("shadows/differences", { name });
    return items.map((item) => ({ ...item, at: Date.parse(item.at) }));
  }
  let differences: KeptDifference[] = [];
  await withStores(async ({ events }) => {
    differences = await events.differences(name);
  });
  return differences;
}

function printShadows(shadows: readonly ShownShadow[]): void {
  printTable(
    ["NAME", "OF", "SAME", "DIFFERENT", "FAILED", "SKIPPED", { heading: "TARGET", leastWidth: 12 }],
    shadows.map(({ name, of, same, different, failed, skipped, target }) => [
      ...[name, of],
      ...[same, different, failed, skipped].map(String),
      printable(target),
    ]),
  );
}

function printDifferences(
  shadow: ShownShadow,
  differences: readonly KeptDifference[],
  time: (at: number) => string,
): void {
  printTable(
    ["AT", "ID", "TYPE", "PLACE", "EXPECTED", { heading: "FOUND", leastWidth: 12 }],
    differences.map(({ at, eventId, type, place, expected, found }) => [
      time(at),
      ...[eventId, type, place, expected, found].map(printable),
    ]),
  );
  const { same, different, failed, skipped, of } = shadow;
  say(`${counted(same, "answer")} as of ${of}, ${different} different, ${failed} failed, ${skipped} not compared.`);
}

function resetShadow(name: string): Promise<void> {
  return withStores(async (stores) => {
    const isChanged = await makeChange(stores, {
      action: "shadow.reset",
      asked: { route: name },
      make: () => stores.events.resetComparisons(name),
      outcome: (isReset) => (isReset ? {} : null),
    });
    say(isChanged ? `The comparisons of ${name} are counted anew.` : `${name} has no comparisons.`);
  });
}
