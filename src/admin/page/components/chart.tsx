import { type Signal, useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { formats, t } from "../texts/texts.ts";
import { type ChartData, chartOptions, dataOf, type Line } from "./chart-options.ts";
import { lazyDetails } from "./lazy-details.tsx";
import { table } from "./table.tsx";

interface ChartProps extends ChartData {
  title: string;
  format: (value: number) => string;
}

/**
 * Draws into an element, and again when the colours of the page or its width change. Returns the chart and what ends
 * it.
 */
function draw(host: HTMLElement, create: (width: number) => uPlot) {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  let plot = create(host.clientWidth);
  const redraw = () => {
    const { data } = plot;
    plot.destroy();
    plot = create(host.clientWidth);
    plot.setData(data);
  };
  const observer = new ResizeObserver(() => {
    if (host.clientWidth > 0) plot.setSize({ width: host.clientWidth, height: plot.height });
  });
  observer.observe(host);
  dark.addEventListener("change", redraw);
  return {
    setData: (data: uPlot.AlignedData) => plot.setData(data),
    end() {
      observer.disconnect();
      dark.removeEventListener("change", redraw);
      plot.destroy();
    },
  };
}

/** A chart over time: lines, or bars of counts. Its lines must not change, only their values. */
export function Chart({ title, times, lines, format }: ChartProps): VNode {
  const host = useRef<HTMLDivElement>(null);
  const drawing = useRef<ReturnType<typeof draw> | null>(null);
  const point = useSignal<number | null>(null);
  // The lines of a chart stay the same, only their values change.
  useEffect(() => {
    const place = host.current as HTMLElement;
    const onPoint = (at: number | null) => {
      point.value = at;
    };
    const created = draw(
      place,
      (width) => new uPlot(chartOptions({ lines }, { width, format, onPoint }), dataOf({ times, lines }), place),
    );
    drawing.current = created;
    return () => created.end();
  }, []);
  useEffect(() => drawing.current?.setData(dataOf({ times, lines })), [times, lines]);
  const label = t.overview.chartOf(title, formats.exact(times[0] ?? 0), formats.exact(times.at(-1) ?? 0));
  return (
    <figure>
      <figcaption>{title}</figcaption>
      <Legend times={times} lines={lines} format={format} point={point} />
      <div class="plot" ref={host} role="img" aria-label={label} />
      {values({ title, times, lines, format })}
    </figure>
  );
}

function Legend({ times, lines, format, point }: Omit<ChartProps, "title"> & { point: Signal<number | null> }): VNode {
  const at = point.value;
  const time = at === null ? undefined : times[at];
  const textAt = (line: Line) => valueText(at === null ? null : line.values[at], format);
  return (
    <p class="legend" aria-hidden="true">
      {lines.map((line) => (
        <span key={line.label}>
          {sample(line)}
          {line.label} <b>{textAt(line)}</b>
        </span>
      ))}
      <span class="soft">{time !== undefined && formats.exact(time)}</span>
    </p>
  );
}

/** How a line, or a bar, looks. */
const sample = ({ color, dash, bar }: Line) => (
  <svg aria-hidden="true" viewBox={bar === undefined ? "0 0 24 4" : "0 0 8 12"} class={color.slice(2)}>
    {bar === undefined ? (
      <path d="M0 2h24" stroke-dasharray={dash.join(" ")} />
    ) : (
      <>
        <path d="M4 0v12" stroke-width="8" stroke-opacity={dash.length > 0 ? 0.4 : 1} />
        <path d="M4 0v12" stroke-width="8" stroke-dasharray={dash.join(" ")} />
      </>
    )}
  </svg>
);

const valueText = (value: number | null | undefined, format: (value: number) => string) =>
  typeof value === "number" ? format(value) : "";

/** The values as a table. */
const values = (props: ChartProps): VNode =>
  lazyDetails(t.overview.asTable, () => (
    <div class="values" tabIndex={0} role="region" aria-label={props.title}>
      {valuesTable(props)}
    </div>
  ));

const valuesTable = ({ title, times, lines, format }: ChartProps) =>
  table({
    caption: title,
    keyOf: String,
    rows: times.map((_, index) => times.length - 1 - index),
    columns: [
      { label: t.overview.time, cell: (row) => formats.exact(times[row] ?? 0), isHeader: true },
      ...lines.map(({ label, values }) => ({
        label,
        kind: "number",
        cell: (row: number) => (values[row] === null ? "–" : format(values[row] ?? 0)),
      })),
    ],
  });
