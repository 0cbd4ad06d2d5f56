import { readEnvironment } from "../config/env-file.ts";
import { readSettings } from "../config/settings.ts";
import { durationText } from "../lib/figures.ts";
import type { OutputOf } from "../operations/operation.ts";
import { listed } from "../operations/outages.ts";
import { isLockHeld } from "../sqlite/data-dir.ts";
import type { OutageKind } from "../webhook/outages/outage.ts";
import { outageText } from "../webhook/outages/report.ts";
import { withPerformer } from "./operate.ts";
import { timeOption } from "./option-values.ts";
import { printData, printJson, say } from "./output.ts";
import type { RemoteOptions } from "./remote.ts";
import { timeFormat } from "./time.ts";

interface OutagesOptions extends RemoteOptions {
  since: string;
  utc?: boolean;
  json?: boolean;
}

/** Prints when deliveries could not be taken, why, and what that means for each source. */
export async function runOutages(options: OutagesOptions): Promise<void> {
  await withPerformer(
    options,
    async ({ perform, now }) => {
      const askedAt = now();
      const { items } = await perform(listed, { since: timeOption("--since", options.since, askedAt) });
      printOutages(items, { askedAt, answeredAt: now() }, options);
    },
    { ongoingOutage },
  );
}

/** An outage without heartbeats: of the store if a server runs on it. */
function ongoingOutage(): OutageKind {
  const { DATABASE_URL, DATA_DIR } = readSettings(readEnvironment(), ["DATABASE_URL", "DATA_DIR"]);
  return DATABASE_URL === undefined && isLockHeld(DATA_DIR) ? "store" : "stopped";
}

type OutageItem = OutputOf<typeof listed>["items"][number];

interface Times {
  askedAt: number;
  answeredAt: number;
}

function printOutages(items: readonly OutageItem[], times: Times, { utc, json }: OutagesOptions): void {
  const format = timeFormat(utc, times.askedAt);
  if (json) printJson(items);
  else if (items.length === 0) say("Deliveries could always be taken in this time.");
  else for (const item of items) printOutage(item, times, format);
}

function printOutage(
  { kind, from, to, sources }: OutageItem,
  { askedAt, answeredAt }: Times,
  format: (at: number) => string,
): void {
  const end = Date.parse(to);
  const what = outageText({ kind, from: Date.parse(from), to: end });
  // One that goes on ends at the time of the answer.
  const isOngoing = end >= askedAt && end <= answeredAt;
  printData(`${from} to ${isOngoing ? "now" : to}: ${what}`);
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
