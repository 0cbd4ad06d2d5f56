import { readEnvironment } from "../config/env-file.ts";
import { readSources } from "../config/sources.ts";
import { durationText } from "../lib/figures.ts";
import { isoTime } from "../lib/iso-time.ts";
import { isLockHeld } from "../sqlite/data-dir.ts";
import { readOutages } from "../webhook/outages/read.ts";
import { type OutageReport, outageJson, outageText, readOutageJson } from "../webhook/outages/report.ts";
import { parseTime } from "./option-values.ts";
import { printData, printJson, say } from "./output.ts";
import { type RemoteOptions, type RemoteServer, remoteServer } from "./remote.ts";
import { withStores } from "./stores.ts";
import { timeFormat } from "./time.ts";

interface OutagesOptions extends RemoteOptions {
  since: string;
  utc?: boolean;
  json?: boolean;
}

/** Prints when deliveries could not be taken, why, and what that means for each source. */
export function runOutages(options: OutagesOptions): Promise<void> {
  const server = remoteServer(options);
  if (server !== null) return printRemoteOutages(server, options);
  const sources = readSources(readEnvironment());
  return withStores(async ({ outages, catchUps, now: clock, settings: { DATABASE_URL, DATA_DIR } }) => {
    const now = clock();
    const isServed = DATABASE_URL === undefined && isLockHeld(DATA_DIR);
    const ongoing = isServed ? "store" : "stopped";
    const limits = { since: parseTime("--since", options.since, now), now, ongoing } as const;
    printOutages(await readOutages({ outages, catchUps }, sources, limits), now, options);
  });
}

async function printRemoteOutages(server: RemoteServer, options: OutagesOptions): Promise<void> {
  const now = Date.now();
  const since = isoTime(parseTime("--since", options.since, now));
  const { items } = await server.raw<{ items: ReturnType<typeof outageJson>[] }>(`outages?since=${since}`);
  printOutages(items.map(readOutageJson), now, options);
}

function printOutages(reports: readonly OutageReport[], now: number, { utc, json }: OutagesOptions): void {
  const format = timeFormat(utc, now);
  if (json) printJson(reports.map(outageJson));
  else if (reports.length === 0) say("Deliveries could always be taken in this time.");
  else for (const report of reports) printOutage(report, now, format);
}

function printOutage(report: OutageReport, now: number, format: (at: number) => string): void {
  printData(`${isoTime(report.from)} to ${report.to === now ? "now" : isoTime(report.to)}: ${outageText(report)}`);
  for (const { name, resends, resendsForSeconds, until, missed, remedy } of report.sources) {
    const found = missed === null ? "" : `; a catch-up has found ${missed} missed`;
    const doing = remedy === null ? "" : ` → ${remedy}`;
    printData(`  ${name}: ${resendsText(resends, resendsForSeconds, until, format)}${found}${doing}`);
  }
}

function resendsText(
  resends: OutageReport["sources"][number]["resends"],
  forSeconds: number | null,
  until: number | null,
  format: (at: number) => string,
): string {
  if (resends === "unknown") return "it is unknown whether its provider repeats deliveries";
  if (resends === "manual")
    return `its provider does not repeat by itself${until === null ? "" : `, and can be asked for the first one until ${format(until)}`}`;
  if (forSeconds === 0) return "its provider does not repeat all types of events";
  const end = until === null ? "" : `, the first one until ${format(until)}`;
  return forSeconds === null
    ? "its provider repeats by itself"
    : `its provider repeats by itself for ${durationText(forSeconds * 1000)}${end}`;
}
