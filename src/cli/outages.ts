import { readEnvironment } from "../config/env-file.ts";
import { readSources } from "../config/sources.ts";
import { durationText } from "../lib/figures.ts";
import { isoTime } from "../lib/iso-time.ts";
import { readOutages } from "../webhook/outages/read.ts";
import { type OutageReport, outageJson, outageText } from "../webhook/outages/report.ts";
import { parseTime } from "./option-values.ts";
import { printData, printJson, say } from "./output.ts";
import { withStores } from "./stores.ts";
import { timeFormat } from "./time.ts";

interface OutagesOptions {
  since: string;
  utc?: boolean;
  json?: boolean;
}

/** Prints when deliveries could not be taken, why, and what that means for each source. */
export async function runOutages({ since, utc, json }: OutagesOptions): Promise<void> {
  const sources = readSources(readEnvironment());
  await withStores(async ({ outages, catchUps, now }) => {
    const at = now();
    const reports = await readOutages({ outages, catchUps }, sources, {
      since: parseTime("--since", since, at),
      now: at,
    });
    if (json) return printJson(reports.map(outageJson));
    if (reports.length === 0) return say("Deliveries could always be taken in this time.");
    const format = timeFormat(utc, at);
    for (const report of reports) printOutage(report, format);
  });
}

function printOutage(report: OutageReport, format: (at: number) => string): void {
  printData(`${isoTime(report.from)} to ${isoTime(report.to)}: ${outageText(report)}`);
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
  const end = until === null ? "" : `, the first one until ${format(until)}`;
  return forSeconds === null
    ? "its provider repeats by itself"
    : `its provider repeats by itself for ${durationText(forSeconds * 1000)}${end}`;
}
