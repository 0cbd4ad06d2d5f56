import { OperatorError } from "../errors.ts";
import { type ChartRequest, chartRange, readChart, type Step } from "../events/chart.ts";
import { chartJson } from "../events/json.ts";
import type { Chart } from "../events/stats.ts";
import { durationText } from "../lib/figures.ts";
import { isoTime } from "../lib/iso-time.ts";
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
  return withStores(async ({ events, now: clock }) => {
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
    printTable(Object.keys(shown), [Object.values(shown).map((value) => String(value ?? "-"))]);
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

function printSums({ total, sums }: Chart): void {
  const rows = [...sums, { source: "all", route: "", ...total }];
  printTable(
    [
      "SOURCE",
      "ROUTE",
      "RECEIVED",
      "DUPLICATES",
      "CONFLICTS",
      "REPEATS",
      "REFUSED",
      "UNROUTED",
      "PROCESSED",
      "RETRIED",
      "DEAD-LETTERED",
    ],
    rows.map((row) => [
      row.source,
      row.route === "" ? "-" : row.route,
      ...[row.received, row.duplicate, row.conflict, row.repeat, row.refused].map(String),
      ...[row.unrouted, row.processed, row.retried, row.dead_lettered].map(String),
    ]),
  );
  const { latency } = total;
  if (latency === null) return;
  const { p50, p95, p99 } = latency;
  printData(`Processed within: p50 ${durationText(p50)}, p95 ${durationText(p95)}, p99 ${durationText(p99)}`);
}
