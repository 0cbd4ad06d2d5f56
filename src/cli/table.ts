import { styleText as applyStyle, type styleText } from "node:util";
import type { Status } from "../events/event.ts";
import { printable } from "../lib/printable.ts";
import { loadStringWidth } from "./load-string-width.ts";
import { printData } from "./output.ts";

type Style = Parameters<typeof styleText>[0];

/** A column of a table. */
export interface Column {
  heading: string;
  /** The minimum width if the terminal is too narrow. Without it, cells are never cut. */
  leastWidth?: number;
  /** Left out if the terminal is still too narrow when all cells are cut: first the columns with the lowest number. */
  givesWay?: number;
  /** The style of a cell on a terminal with colours. */
  style?(cell: string): Style;
}

const GAP = "  ";

/**
 * Prints rows under headings. On a terminal the widest columns are cut until a line fits. A note, if there is one, is
 * printed whole on the line below its row.
 */
export function printTable(
  headings: readonly (string | Column)[],
  rows: readonly (readonly string[])[],
  notes: readonly string[] = [],
): void {
  const columns = headings.map((heading): Column => (typeof heading === "string" ? { heading } : heading));
  const cells = rows.map((row) => row.map(printable));
  const widths = fittingWidths(columns, cells, process.stdout.isTTY ? process.stdout.columns : 0);
  const lineOf = (row: readonly string[], isHeading: boolean) =>
    columns
      .flatMap(({ style }, index) => {
        const cell = row[index] ?? "";
        const width = widths[index] ?? 0;
        if (width === 0) return [];
        const text = cut(cell, width);
        const padding = " ".repeat(Math.max(0, width - stringWidth(text)));
        return [(isHeading || !style ? text : styled(style(cell), text)) + padding];
      })
      .join(GAP)
      .trimEnd();
  printData(
    lineOf(
      columns.map(({ heading }) => heading),
      true,
    ),
  );
  for (const [index, row] of cells.entries()) {
    printData(lineOf(row, false));
    const note = notes[index];
    if (note !== undefined) printData(`${GAP}${printable(note)}`);
  }
}

/** Styles text if standard output shows colours: not in a pipe, and not with `NO_COLOR`. */
export function styled(style: Style, text: string): string {
  return applyStyle(style, text, { stream: process.stdout });
}

/** The width of each column; 0 for one that is left out. `terminal` is the width of the terminal, 0 without one. */
function fittingWidths(columns: readonly Column[], rows: readonly (readonly string[])[], terminal: number): number[] {
  const widths = columns.map(({ heading }, index) =>
    rows.reduce((most, row) => Math.max(most, stringWidth(row[index] ?? "")), heading.length),
  );
  if (terminal === 0) return widths;
  let excess = widths.reduce((sum, width) => sum + width + GAP.length, -GAP.length) - terminal;
  for (; excess > 0; excess--) {
    const cuttable = columns.flatMap(({ leastWidth }, index) => {
      const width = widths[index] ?? 0;
      return leastWidth === undefined || width <= leastWidth ? [] : [{ index, width }];
    });
    const [next] = cuttable.sort((a, b) => b.width - a.width);
    if (!next) break;
    widths[next.index] = next.width - 1;
  }
  for (const index of givingWay(columns)) {
    if (excess <= 0) break;
    excess -= (widths[index] ?? 0) + GAP.length;
    widths[index] = 0;
  }
  return widths;
}

/** The columns that may be left out, in order. */
const givingWay = (columns: readonly Column[]) =>
  columns
    .flatMap(({ givesWay }, index) => (givesWay === undefined ? [] : [{ index, givesWay }]))
    .sort((a, b) => a.givesWay - b.givesWay)
    .map(({ index }) => index);

/** How many columns of a terminal a text takes. */
export function stringWidth(text: string): number {
  return /^[ -~]*$/.test(text) ? text.length : loadStringWidth()(text);
}

/** Cuts text to a width, with an ellipsis at the end. */
export function cut(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  let kept = "";
  let used = 0;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    used += stringWidth(segment);
    if (used > width - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** The colour of each status. */
export const STATUS_STYLE = {
  queued: "yellow",
  processed: "green",
  failed: "red",
  discarded: "gray",
  unrouted: "magenta",
} as const satisfies Record<Status, string>;
