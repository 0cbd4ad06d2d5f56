import type uPlot from "uplot";
import type { AlignedData, Options, Series } from "uplot";
import { DAY_MS } from "../format.ts";
import { formats } from "../texts/texts.ts";

/** A line of a chart, or its bars. Its dashes tell it from the others without colour. */
export interface Line {
  label: string;
  /** The custom property of its colour. */
  color: string;
  dash: number[];
  values: readonly (number | null)[];
  /** Set for counts, which are bars: those with the same number are stacked, others stand side by side. */
  bar?: number;
}

/** What a chart shows. `times` are in Unix milliseconds, each as long after the one before. */
export interface ChartData {
  times: readonly number[];
  lines: readonly Line[];
}

const HEIGHT = 220;
// A character of the labels is at most this wide.
const CHARACTER_PX = 7.5;
const AXIS_PX = 20;
const LINE_PX = 2;

/** The distances of ticks: 1, 2, 5, 10 and so on. A part of a delivery or of a millisecond says nothing. */
const STEPS = Array.from({ length: 30 }, (_, index) => ([1, 2, 5][index % 3] as number) * 10 ** Math.floor(index / 3));

/** The data of a chart for uPlot. A stacked bar has the end of its stack as its value. */
export function dataOf({ times, lines }: ChartData): AlignedData {
  const drawn: Line["values"][] = [];
  for (const [index, { values }] of lines.entries()) {
    const below = drawn[belowOf(lines, index)];
    drawn.push(below ? values.map((value, at) => (value ?? 0) + (below[at] ?? 0)) : values);
  }
  return [times, ...drawn] as AlignedData;
}

/** The index of the bars on which those of a line are stacked; -1 for none. */
const belowOf = (lines: readonly Line[], index: number) =>
  lines.findLastIndex(({ bar }, other) => other < index && bar !== undefined && bar === lines[index]?.bar);

/** The options of uPlot, in the colours of the page. `onPoint` is called with the index under the pointer. */
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
    cursor: {
      drag: { x: false, y: false },
      sync: { key: "page" },
      points: { show: lines.every(({ bar }) => bar === undefined), size: 7 },
    },
    scales: {
      // What is counted from a time on has its bar around that time.
      x: { range: ({ data: [times] }, min, max) => [min - stepOf(times) / 2, max + stepOf(times) / 2] },
      y: { range: (_, __, max) => [0, Math.max(1, (max ?? 0) * 1.08)] },
    },
    // The last label of the time axis is centred at the edge.
    padding: [8, 28, 0, 0],
    axes: [
      { ...axis, size: 30, space: 70, values: (_, times) => times.map(timeLabels(times)) },
      { ...axis, size: widthOf, incrs: STEPS, values: (_, values) => values.map((value) => format(value)) },
    ],
    series: [
      {},
      ...lines.map((line, index): Series => {
        const { label, dash } = line;
        const stroke = color(line.color);
        const series = { label, stroke, width: LINE_PX };
        return line.bar === undefined
          ? { ...series, dash, points: { show: false, size: 6, fill: color("--card"), filter: isolated } }
          : { ...series, fill: striped(stroke, dash), paths: barsOf(lines, index), points: { show: false } };
      }),
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

const stepOf = ([first = 0, second = first]: ArrayLike<number> & Iterable<number>) => second - first;

// The part of a time that its bars fill.
const FILLED = 0.8;

/**
 * Draws the bars of a line, with a solid end: one failure among thousands is seen. Those of uPlot have no least height,
 * and blurred edges where they are narrow.
 */
function barsOf(lines: readonly Line[], index: number): Series.PathBuilder {
  const bar = lines[index]?.bar ?? 0;
  const count = 1 + Math.max(...lines.map((line) => line.bar ?? 0));
  const below = belowOf(lines, index) + 1;
  return (plot, series, from, to) => {
    const [times, ends, starts] = [plot.data[0], plot.data[series], below === 0 ? [] : plot.data[below]];
    const place = (value: number, scale: "x" | "y") => Math.round(plot.valToPos(value, scale, true));
    const stepPx = plot.valToPos(stepOf(times), "x", true) - plot.valToPos(0, "x", true);
    const width = Math.max(1, Math.floor((stepPx * FILLED) / count));
    const gap = count > 1 ? Math.floor(width / 6) : 0;
    const linePx = LINE_PX * devicePixelRatio;
    const [fill, stroke] = [new Path2D(), new Path2D()];
    for (let at = from; at <= to; at++) {
      const [start, end] = [starts?.[at] ?? 0, ends?.[at] ?? 0];
      if (end <= start) continue;
      const left = place(times[at] ?? 0, "x") + Math.round((bar - count / 2) * width);
      const bottom = place(start, "y");
      const top = Math.min(place(end, "y"), bottom - linePx);
      fill.rect(left, top, width - gap, bottom - top);
      stroke.moveTo(left, top + linePx / 2);
      stroke.lineTo(left + width - gap, top + linePx / 2);
    }
    return { fill, stroke };
  };
}

/** A fill with a stripe for each dash, and paler ones between. */
function striped(color: string, [filled = 0, pale = 0]: readonly number[]): string | CanvasPattern {
  const tile = new OffscreenCanvas(1, Math.max(1, Math.round((filled + pale) * devicePixelRatio)));
  const context = tile.getContext("2d");
  if (context === null || filled === 0) return color;
  context.fillStyle = color;
  context.fillRect(0, 0, 1, Math.round(filled * devicePixelRatio));
  context.globalAlpha = 0.4;
  context.fillRect(0, 0, 1, tile.height);
  return context.createPattern(tile, "repeat") ?? color;
}
