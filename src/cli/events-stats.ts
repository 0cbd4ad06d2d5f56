import { OperatorError } from "../errors.ts";
import { chartRange, type Step } from "../events/chart.ts";
import { durationText } from "../lib/figures.ts";
import { isoTime } from "../lib/iso-time.ts";
import type { OutputOf } from "../operations/operation.ts";
import { backlogItem, stats, status } from "../operations/status.ts";
import { requireFiltered, requireFilteredThere } from "./find-source.ts";
import { operateThere, withPerformer } from "./operate.ts";
import { parseTime } from "./option-values.ts";
import { printData, printJson } from "./output.ts";
import type { RemoteOptions } from "./remote.ts";
import { printTable } from "./table.ts";

interface StatsOptions extends RemoteOptions {
  since?: string;
  until?: string;
  step?: Step;
  source?: string;
  route?: string;
  json?: boolean;
}

/** Prints the number of events of each status, and what was counted over time by source and route. */
export function runEventsStats({ json, since, until, step, source, route, ...remote }: StatsOptions): Promise<void> {
  return withPerformer(remote, async ({ perform, stores, server }) => {
    await (server === null
      ? requireFiltered(stores, { source, route })
      : requireFilteredThere(server, { source, route }));
    const now = Date.now();
    const asked = { since: timeIn("--since", since, now), until: timeIn("--until", until, now), step };
    const range = chartRange(asked, now);
    if ("fault" in range) throw new OperatorError({ found: `--${range.member} is not usable`, remedy: range.fault });
    const query = { since: isoTime(range.since), until: isoTime(range.until), step: range.step, source, route };
    const [backlog, chart] = await Promise.all([
      server === null
        ? stores.events.backlog().then(backlogItem)
        : operateThere(server, status, {}).then(({ events }) => events),
      perform(stats, query),
    ]);
    if (json) return printJson({ ...backlog, ...chart });
    for (const [name, value] of Object.entries(backlog)) printData(`${name.padEnd(NAME_WIDTH)}${value ?? "-"}`);
    printData("");
    printData(`In ${durationText(range.until - range.since)}, from ${chart.since} to ${chart.until}:`);
    printSums(chart);
  });
}

const timeIn = (option: string, text: string | undefined, now: number) =>
  text === undefined ? undefined : Math.max(0, parseTime(option, text, now));

const NAME_WIDTH = "oldestQueuedAt".length + 2;

const NAME_COLUMN = { leastWidth: 6 };

/** Prints what each source has delivered, and what each route has done. */
function printSums({ total, sums }: OutputOf<typeof stats>): void {
  const all = { ...total, source: "all", route: "" };
  printTable(
    [
      { heading: "SOURCE", ...NAME_COLUMN },
      ...["RECEIVED", "DUPLICATES", "CONFLICTS", "REPEATS", "REFUSED", "UNROUTED"],
    ],
    [...sums.filter(({ route }) => route === ""), all].map((row) => [
      row.source,
      ...[row.received, row.duplicate, row.conflict, row.repeat, row.refused, row.unrouted].map(String),
    ]),
  );
  printData("");
  printTable(
    [
      { heading: "ROUTE", ...NAME_COLUMN },
      { heading: "SOURCE", ...NAME_COLUMN },
      ...["PROCESSED", "RETRIED", "DEAD-LETTERED"],
    ],
    [...sums.filter(({ route }) => route !== ""), { ...all, route: "all" }].map((row) => [
      row.route,
      row.source,
      ...[row.processed, row.retried, row.deadLettered].map(String),
    ]),
  );
  const { latency } = total;
  if (latency === null) return;
  const { p50, p95, p99 } = latency;
  printData(`Processed within: p50 ${durationText(p50)}, p95 ${durationText(p95)}, p99 ${durationText(p99)}`);
}
