import { OperatorError } from "../errors.ts";
import { type ChartRequest, chartRange, readChart, type Step } from "../events/chart.ts";
import { chartJson } from "../events/json.ts";
import type { Chart } from "../events/stats.ts";
import { durationText } from "../lib/figures.ts";
import { isoTime } from "../lib/iso-time.ts";
import { requireFiltered } from "./find-source.ts";
import { parseTime } from "./option-values.ts";
import { printData, printJson } from "./output.ts";
import { withStores } from "./stores.ts";
import { printTable } from "./table.ts";

interface StatsOptions {
  since?: string;
  until?: string;
  step?: Step;
  source?: string;
  route?: string;
  json?: boolean;
}

/** Prints the number of events of each status, and what was counted over time by source and route. */
export function runEventsStats({ json, ...options }: StatsOptions): Promise<void> {
  return withStores(async (stores) => {
    const { events, now: clock } = stores;
    await requireFiltered(stores, options);
    const now = clock();
    const range = chartRange(requestOf(options, now), now);
    if ("fault" in range) throw new OperatorError({ found: `--${range.member} is not usable`, remedy: range.fault });
    const [{ oldestQueuedAt, ...counts }, chart] = await Promise.all([
      events.backlog(),
      readChart(events, range, options),
    ]);
    const shown = { ...counts, oldestQueuedAt: isoTime(oldestQueuedAt) };
    const { since, until, step } = range;
    if (json) return printJson({ ...shown, since: isoTime(since), until: isoTime(until), step, ...chartJson(chart) });
    for (const [name, value] of Object.entries(shown)) printData(`${name.padEnd(NAME_WIDTH)}${value ?? "-"}`);
    printData("");
    printData(`In ${durationText(until - since)}, from ${isoTime(since)} to ${isoTime(until)}:`);
    printSums(chart);
  });
}

function requestOf({ since, until, ...others }: Omit<StatsOptions, "json">, now: number): ChartRequest {
  return {
    ...others,
    ...(since !== undefined && { since: parseTime("--since", since, now) }),
    ...(until !== undefined && { until: parseTime("--until", until, now) }),
  };
}

const NAME_WIDTH = "oldestQueuedAt".length + 2;

const NAME_COLUMN = { leastWidth: 6 };

/** Prints what each source has delivered, and what each route has done. */
function printSums({ total, sums }: Chart): void {
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
      ...[row.processed, row.retried, row.dead_lettered].map(String),
    ]),
  );
  const { latency } = total;
  if (latency === null) return;
  const { p50, p95, p99 } = latency;
  printData(`Processed within: p50 ${durationText(p50)}, p95 ${durationText(p95)}, p99 ${durationText(p99)}`);
}
