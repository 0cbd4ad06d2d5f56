import { OperatorError } from "../errors.ts";
import { type ChartRequest, chartRange, readChart, type Step } from "../events/chart.ts";
import { chartJson } from "../events/json.ts";
import type { Chart } from "../events/stats.ts";
import type { Backlog } from "../events/store.ts";
import { durationText } from "../lib/figures.ts";
import { isoTime } from "../lib/iso-time.ts";
import { requireFiltered, requireFilteredThere } from "./find-source.ts";
import { parseTime } from "./option-values.ts";
import { printData, printJson } from "./output.ts";
import { type RemoteOptions, type RemoteServer, remoteServer } from "./remote.ts";
import { chartOfAnswer, type ShownChart } from "./remote-events.ts";
import { withStores } from "./stores.ts";
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
export function runEventsStats({ json, server: url, tokenFile, ...options }: StatsOptions): Promise<void> {
  const server = remoteServer({
    ...(url !== undefined && { server: url }),
    ...(tokenFile !== undefined && { tokenFile }),
  });
  if (server !== null) return printRemoteStats(server, { ...options, json });
  return withStores(async (stores) => {
    const { events, now } = stores;
    await requireFiltered(stores, options);
    const counts = { backlog: events.backlog, chart: (range: ChartRange) => readChart(events, range, options) };
    return printStats(counts, now(), { ...options, json });
  });
}

type ChartRange = Exclude<ReturnType<typeof chartRange>, { fault: string }>;
type CountOptions = Omit<StatsOptions, "json" | keyof RemoteOptions>;
type PrintOptions = CountOptions & { json: boolean | undefined };

/** Where the counts are read. */
interface CountReads {
  backlog(): Promise<Backlog>;
  chart(range: ChartRange): Promise<Chart>;
}

async function printRemoteStats(server: RemoteServer, options: PrintOptions): Promise<void> {
  await requireFilteredThere(server, options);
  const { source, route } = options;
  const counts: CountReads = {
    backlog: async () => (await server.get<{ events: Backlog }>("status")).events,
    async chart({ since, until, step }) {
      const query = { since: isoTime(since), until: isoTime(until), step, source, route };
      return chartOfAnswer(await server.get<ShownChart>("stats", query));
    },
  };
  return printStats(counts, Date.now(), options);
}

async function printStats(reads: CountReads, now: number, { json, ...options }: PrintOptions): Promise<void> {
  const range = chartRange(requestOf(options, now), now);
  if ("fault" in range) throw new OperatorError({ found: `--${range.member} is not usable`, remedy: range.fault });
  const [{ oldestQueuedAt, ...counts }, chart] = await Promise.all([reads.backlog(), reads.chart(range)]);
  const shown = { ...counts, oldestQueuedAt: isoTime(oldestQueuedAt) };
  const { since, until, step } = range;
  if (json) return printJson({ ...shown, since: isoTime(since), until: isoTime(until), step, ...chartJson(chart) });
  for (const [name, value] of Object.entries(shown)) printData(`${name.padEnd(NAME_WIDTH)}${value ?? "-"}`);
  printData("");
  printData(`In ${durationText(until - since)}, from ${isoTime(since)} to ${isoTime(until)}:`);
  printSums(chart);
}

function requestOf({ since, until, ...others }: CountOptions, now: number): ChartRequest {
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
