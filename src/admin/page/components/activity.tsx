import type { VNode } from "preact";
import type { Stats } from "../answers.ts";
import { DAY_MS } from "../format.ts";
import { readStats } from "../requests.ts";
import { useResource } from "../resource.ts";
import { formats, t } from "../texts/texts.ts";
import { Chart } from "./chart.tsx";
import type { Line } from "./chart-options.ts";
import { shown, skeleton } from "./states.tsx";

type Of = { route: string } | { source: string };

const EVERY_MS = 60_000;

type Item = Stats["items"][number];

const ROUTE_LINES: [() => string, string, number[], (item: Item) => number][] = [
  [() => t.overview.processed, "--line-2", [], ({ processed }) => processed],
  [() => t.overview.failed, "--line-3", [2, 3], ({ retried, deadLettered }) => retried + deadLettered],
];
const SOURCE_LINES: typeof ROUTE_LINES = [
  [() => t.overview.received, "--line-1", [], ({ received }) => received],
  [() => t.overview.refused, "--line-3", [2, 3], ({ refused }) => refused],
];

function Activity({ of }: { of: Of }): VNode {
  const stats = useResource(
    JSON.stringify(of),
    (signal) => readStats({ since: new Date(Date.now() - DAY_MS).toISOString(), step: "hour", ...of }, signal),
    EVERY_MS,
  );
  return <>{shown(stats, (data) => drawn(data, "route" in of), skeleton(6))}</>;
}

function drawn({ items, step }: Stats, isRoute: boolean): VNode {
  const lines = (isRoute ? ROUTE_LINES : SOURCE_LINES).map(
    ([label, color, dash, value]): Line => ({ label: label(), color, dash, values: items.map(value), bar: 0 }),
  );
  const title = `${isRoute ? t.event.jobs : t.overview.deliveries}, ${t.overview.per[step]}`;
  const times = items.map(({ at }) => Date.parse(at));
  return <Chart key="day" title={title} times={times} lines={lines} format={formats.compact} />;
}

/** A chart of the last day: the attempts of a route, or the deliveries of a source. */
export const activity = (of: Of): VNode => <Activity of={of} />;
