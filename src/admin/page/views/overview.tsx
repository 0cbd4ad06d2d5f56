import type { VNode } from "preact";
import type { Stats, Status } from "../answers.ts";
import { Chart } from "../components/chart.tsx";
import type { Line } from "../components/chart-options.ts";
import { Heading } from "../components/heading.tsx";
import { Section } from "../components/section.tsx";
import { shown, skeleton } from "../components/states.tsx";
import { terms } from "../components/table.tsx";
import { exactly } from "../components/time.tsx";
import { status } from "../live.ts";
import { hashOf } from "../place.ts";
import { readSources, readStats } from "../requests.ts";
import { useResource } from "../resource.ts";
import { place } from "../router.ts";
import { firstSteps } from "../setup/first-steps.tsx";
import { formats, t } from "../texts/texts.ts";
import { banners } from "./overview-banners.tsx";
import { overviewSources } from "./overview-sources.tsx";
import { tiles } from "./overview-tiles.tsx";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const RANGES = {
  "1h": { ms: HOUR_MS, step: "minute", everyMs: 5000 },
  "24h": { ms: 24 * HOUR_MS, step: "hour", everyMs: 60_000 },
  "30d": { ms: 30 * 24 * HOUR_MS, step: "day", everyMs: 60_000 },
} as const;
type Range = keyof typeof RANGES;

const NAMES = Object.keys(RANGES) as Range[];

const statsOf = (range: Range) => (signal: AbortSignal) => {
  const { ms, step } = RANGES[range];
  return readStats({ since: new Date(Date.now() - ms).toISOString(), step }, signal);
};

/** The overview: what comes in, what waits, what fails, and what is to be done. */
export function Overview(): VNode {
  const range = NAMES.find((name) => name === place.value.query.range) ?? "1h";
  const hour = useResource("hour", statsOf("1h"), RANGES["1h"].everyMs);
  const sources = useResource("sources", readSources, RANGES["1h"].everyMs);
  const isNew =
    status.data.value?.events.ids === 0 && sources.data.value?.items.every(({ received }) => received === 0);
  if (isNew)
    return (
      <>
        <Heading title={t.setup.title} />
        {banners()}
        {firstSteps(sources.data.value?.items ?? [])}
      </>
    );
  return (
    <>
      <Heading title={t.views.overview} />
      {banners()}
      {shown(status, (now) => shown(hour, (stats) => tiles(now, stats)), skeleton(8))}
      <section>
        <div class="bar">
          <h2>{t.overview.history}</h2>
          {rangeLinks(range)}
        </div>
        {range === "1h" ? (
          shown(hour, (stats) => charts("1h", stats), skeleton(10))
        ) : (
          <LongCharts range={range} key={range} />
        )}
      </section>
      <Section title={t.views.sources}>
        {shown(sources, ({ items }) => overviewSources(items, hour.data.value))}
      </Section>
      {status.data.value && server(status.data.value)}
    </>
  );
}

const rangeLinks = (chosen: Range) => (
  <nav class="choice" aria-label={t.overview.range}>
    {NAMES.map((name) => (
      <a key={name} href={hashOf([], { range: name })} aria-current={name === chosen ? "true" : undefined}>
        {t.overview.ranges[name]}
      </a>
    ))}
  </nav>
);

function LongCharts({ range }: { range: Range }): VNode {
  const stats = useResource(range, statsOf(range), RANGES[range].everyMs);
  return <>{shown(stats, (data) => charts(range, data), skeleton(10))}</>;
}

function charts(range: Range, { items, step }: Stats): VNode {
  const times = items.map(({ at }) => Date.parse(at));
  const line = (
    label: string,
    color: string,
    dash: number[],
    value: (item: Stats["items"][number]) => number | null,
  ): Line => ({
    label,
    color,
    dash,
    values: items.map(value),
  });
  // Beside what came, the attempts: those that succeeded, and on top those that failed.
  const counts = [
    { ...line(t.overview.received, "--line-1", [], ({ received }) => received), bar: 0 },
    { ...line(t.overview.processed, "--line-2", [], ({ processed }) => processed), bar: 1 },
    { ...line(t.overview.failed, "--line-3", [2, 3], ({ retried, deadLettered }) => retried + deadLettered), bar: 1 },
  ];
  const latencies = [
    line("p50", "--line-1", [], ({ latency }) => latency?.p50 ?? null),
    line("p95", "--line-2", [8, 4], ({ latency }) => latency?.p95 ?? null),
    line("p99", "--line-3", [2, 3], ({ latency }) => latency?.p99 ?? null),
  ];
  return (
    <div class="charts">
      <Chart
        key={`${range} counts`}
        title={`${t.overview.throughput}, ${t.overview.per[step]}`}
        times={times}
        lines={counts}
        format={formats.compact}
      />
      <Chart
        key={`${range} latencies`}
        title={t.overview.latencies}
        times={times}
        lines={latencies}
        format={formats.duration}
      />
    </div>
  );
}

const server = ({ nodes, startedAt, store, events }: Status) => (
  <Section title={t.overview.server}>
    <div class="card">
      {terms([
        [t.overview.servers, formats.count(nodes)],
        [t.overview.started, exactly(startedAt)],
        [t.overview.store, { sqlite: "SQLite", postgres: "PostgreSQL" }[store]],
        [t.overview.size, t.overview.sizeOf(formats.bytes(events.bytes), events.ids)],
      ])}
    </div>
  </Section>
);
