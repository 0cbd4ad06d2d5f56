import type { Chart } from "../events/stats.ts";

type ChartPoint = Chart["points"][number];
type Shown<Counts> = Omit<Counts, "dead_lettered"> & { deadLettered: number };

/** A chart as the API answers it. */
export interface ShownChart {
  items: Shown<ChartPoint>[];
  total: Shown<Chart["total"]>;
  sums: Shown<Chart["sums"][number]>[];
}

/** The chart of an answer. */
export function chartOfAnswer({ items, total, sums }: ShownChart): Chart {
  return { points: items.map(pointOf), total: countsOf(total), sums: sums.map(countsOf) } as Chart;
}

const countsOf = <Counts extends { deadLettered: number }>({ deadLettered: dead_lettered, ...counts }: Counts) => ({
  ...counts,
  dead_lettered,
});

const pointOf = ({ at, ...counts }: Shown<ChartPoint>) => ({ at: Date.parse(String(at)), ...countsOf(counts) });
