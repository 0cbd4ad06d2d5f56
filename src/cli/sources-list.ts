import { readEnvironment } from "../config/env-file.ts";
import { readSources } from "../config/sources.ts";
import { isoTime } from "../lib/iso-time.ts";
import { rotationFindings } from "../webhook/rotation.ts";
import { overviewOf } from "../webhook/source-overview.ts";
import { printJson, say } from "./output.ts";
import { sourceRecords } from "./stores.ts";
import { printTable } from "./table.ts";
import { timeFormat } from "./time.ts";

/** Prints the sources with what they have received and refused. */
export async function runSourcesList({ utc, json }: { utc?: boolean; json?: boolean }): Promise<void> {
  const environment = readEnvironment();
  const records = new Map((await sourceRecords(environment)).map((record) => [record.source, record]));
  const configured = readSources(environment);
  const sources = overviewOf(configured, [...records.values()]);
  if (json) {
    return printJson(sources.map((source) => ({ ...source, lastReceivedAt: isoTime(source.lastReceivedAt) })));
  }
  if (sources.length === 0) return say("There are no sources: set WEBHOOK_SECRET, or add one to authserve.yaml.");
  const format = timeFormat(utc, Date.now());
  printTable(
    [
      "NAME",
      { heading: "PATH", leastWidth: 12 },
      "PRESET",
      "RECEIVED",
      "REFUSED",
      "LAST",
      { heading: "SECRET", leastWidth: 8 },
    ],
    sources.map(({ name, path, preset, received, refused, lastReceivedAt, lastSecret }) => [
      name,
      path,
      preset ?? "-",
      String(received),
      String(refused),
      lastReceivedAt === null ? "-" : format(lastReceivedAt),
      lastSecret ?? "-",
    ]),
  );
  const findings = configured.flatMap((source) => rotationFindings(source, records.get(source.name), Date.now()));
  for (const { found, remedy } of findings) say(`warning: ${found}: ${remedy}`);
}
