import { readEnvironment } from "../config/env-file.ts";
import { readSources } from "../config/sources.ts";
import { durationText } from "../lib/figures.ts";
import { isoTime } from "../lib/iso-time.ts";
import { listed } from "../operations/outages.ts";
import { isLockHeld } from "../sqlite/data-dir.ts";
import { readOutages } from "../webhook/outages/read.ts";
import { outageJson, outageText } from "../webhook/outages/report.ts";
import { operateThere } from "./operate.ts";
import { parseTime } from "./option-values.ts";
import { printData, printJson, say } from "./output.ts";
import { type RemoteOptions, remoteServer } from "./remote.ts";
import { withStores } from "./stores.ts";
import { timeFormat } from "./time.ts";

interface OutagesOptions extends RemoteOptions {
  since: string;
  utc?: boolean;
  json?: boolean;
}

/** Prints when deliveries could not be taken, why, and what that means for each source. */
export async function runOutages(options: OutagesOptions): Promise<void> {
  const server = remoteServer(options);
  if (server !== null) {
    const now = Date.now();
    const since = isoTime(parseTime("--since", options.since, now));
    return printOutages((await operateThere(server, listed, { since })).items, now, options);
  }
  const sources = readSources(readEnvironment());
  await withStores(async ({ outages, catchUps, now: clock, settings: { DATABASE_URL, DATA_DIR } }) => {
    const now = clock();
    const isServed = DATABASE_URL === undefined && isLockHeld(DATA_DIR);
    const ongoing = isServed ? "store" : "stopped";
    const limits = { since: parseTime("--since", options.since, now), now, ongoing } as const;
    const reports = await readOutages({ outages, catchUps }, sources, limits);
    printOutages(reports.map(outageJson), now, options);
  });
}

type OutageItem = ReturnType<typeof outageJson>;

function printOutages(items: readonly OutageItem[], now: number, { utc, json }: OutagesOptions): void {
  const format = timeFormat(utc, now);
  if (json) printJson(items);
  else if (items.length === 0) say("Deliveries could always be taken in this time.");
  else for (const item of items) printOutage(item, now, format);
}

function printOutage({ kind, from, to, sources }: OutageItem, now: number, format: (at: number) => string): void {
  const what = outageText({ kind, from: Date.parse(from), to: Date.parse(to) });
  printData(`${from} to ${to === isoTime(now) ? "now" : to}: ${what}`);
  for (const { name, resends, resendsForSeconds, until, missed, remedy } of sources) {
    const found = missed === null ? "" : `; a catch-up has found ${missed} missed`;
    const doing = remedy === null ? "" : ` → ${remedy}`;
    printData(`  ${name}: ${resendsText(resends, resendsForSeconds, until, format)}${found}${doing}`);
  }
}

function resendsText(
  resends: OutageItem["sources"][number]["resends"],
  forSeconds: number | null,
  until: string | null,
  format: (at: number) => string,
): string {
  if (resends === "unknown") return "it is unknown whether its provider repeats deliveries";
  if (resends === "manual")
    return `its provider does not repeat by itself${until === null ? "" : `, and can be asked for the first one until ${format(Date.parse(until))}`}`;
  if (forSeconds === 0) return "its provider does not repeat all types of events";
  const end = until === null ? "" : `, the first one until ${format(Date.parse(until))}`;
  return forSeconds === null
    ? "its provider repeats by itself"
    : `its provider repeats by itself for ${durationText(forSeconds * 1000)}${end}`;
}
