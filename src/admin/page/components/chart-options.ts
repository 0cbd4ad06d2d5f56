import type uPlot from "uplot";
import type { Options } from "uplot";
import { DAY_MS } from "../format.ts";
import { formats } from "../texts/texts.ts";

/** A line of a chart. Its dashes tell it from the others without colour. */
export interface Line {
  label: string;
  /** The custom property of its colour. */
  color: string;
  dash: number[];
  values: readonly (number | null)[];
}

/** What a chart shows. `times` are in Unix milliseconds. */
export interface ChartData {
  times: readonly number[];
  lines: readonly Line[];
}

const HEIGHT = 220;
// A character of the labels is at most this wide.
const CHARACTER_PX = 7.5;
const AXIS_PX = 20;

/** The distances of ticks: 1, 2, 5, 10 and so on. A part of a delivery or of a millisecond says nothing. */
const STEPS = Array.from({ length: 30 }, (_, index) => ([1, 2, 5][index % 3] as number) * 10 ** Math.floor(index / 3));

/** The options of uPlot for lines in the colours of the page. `onPoint` is called with the index under the pointer. */
export function chartOptions(
  { lines }: Pick<ChartData, "lines">,
  {
    width,
    format,
    onPoint,
  }: { width: number; format: (value: number) => string; onPoint: (at: number | null) => void },
): Options {
  const style = getComputedStyle(document.documentElement);
  const color = (name: string) => style.getPropertyValue(name).trim();
  const axis = {
    stroke: color("--soft"),
    font: "12px system-ui, sans-serif",
    grid: { stroke: color("--line"), width: 1 },
    ticks: { stroke: color("--line"), width: 1, size: 4 },
  };
  return {
    width,
    height: HEIGHT,
    ms: 1,
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, sync: { key: "page" }, points: { size: 7 } },
    scales: { y: { range: (_, __, max) => [0, Math.max(1, (max ?? 0) * 1.08)] } },
    // The last label of the time axis is centred at the edge.
    padding: [8, 28, 0, 0],
    axes: [
      { ...axis, size: 30, space: 70, values: (_, times) => times.map(timeLabels(times)) },
      { ...axis, size: widthOf, incrs: STEPS, values: (_, values) => values.map((value) => format(value)) },
    ],
    series: [
      {},
      ...lines.map((line) => ({
        label: line.label,
        stroke: color(line.color),
        width: 2,
        dash: line.dash,
        points: { show: false, size: 6, filter: isolated },
      })),
    ],
    hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)] },
  };
}

/** Ticks name the time, and where the day changes the day. */
function timeLabels(times: readonly number[]): (at: number, index: number) => string {
  const isLong = (times.at(-1) ?? 0) - (times[0] ?? 0) > 2 * DAY_MS;
  return (at) => (isLong || isMidnight(at) ? formats.day(at) : formats.clock(at));
}

function isMidnight(at: number): boolean {
  const date = new Date(at);
  return date.getHours() === 0 && date.getMinutes() === 0;
}

/** As wide as the longest label needs. */
function widthOf(_: uPlot, labels: string[] | null): number {
  return Math.max(2, ...(labels ?? []).map(({ length }) => length)) * CHARACTER_PX + AXIS_PX;
}

/** The points with no neighbour: no line would show them. */
function isolated({ data }: uPlot, series: number): number[] | null {
  const values = data[series] ?? [];
  const alone = (at: number) => values[at] != null && values[at - 1] == null && values[at + 1] == null;
  const found = Array.from({ length: values.length }, (_, at) => at).filter(alone);
  return found.length === 0 ? null : found;
}
