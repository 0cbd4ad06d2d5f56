import { styleText as applyStyle, type styleText } from "node:util";
import stringWidth from "string-width";
import type { Status } from "../events/event.ts";
import { printable } from "../lib/printable.ts";
import { printData } from "./output.ts";

type Style = Parameters<typeof styleText>[0];

/** A column of a table. */
export interface Column {
  heading: string;
  /** The minimum width if the terminal is too narrow. Without it, cells are never cut. */
  leastWidth?: number;
  /** Cut only when no other column can be cut further. */
  isCutLast?: boolean;
  /** The style of a cell on a terminal with colours. */
  style?(cell: string): Style;
}

const GAP = "  ";

/** Prints rows under headings. On a terminal the widest columns are cut until a line fits. */
export function printTable(headings: readonly (string | Column)[], rows: readonly (readonly string[])[]): void {
  const columns = headings.map((heading): Column => (typeof heading === "string" ? { heading } : heading));
  const cells = rows.map((row) => row.map(printable));
  const widths = fittingWidths(columns, cells, process.stdout.isTTY ? process.stdout.columns : 0);
  const lineOf = (row: readonly string[], isHeading: boolean) =>
    columns
      .map(({ style }, index) => {
        const cell = row[index] ?? "";
        const text = cut(cell, widths[index] ?? 0);
        const padding = " ".repeat(Math.max(0, (widths[index] ?? 0) - stringWidth(text)));
        return (isHeading || !style ? text : styled(style(cell), text)) + padding;
      })
      .join(GAP)
      .trimEnd();
  printData(
    lineOf(
      columns.map(({ heading }) => heading),
      true,
    ),
  );
  for (const row of cells) printData(lineOf(row, false));
}

/** Styles text if standard output shows colours: not in a pipe, and not with `NO_COLOR`. */
export function styled(style: Style, text: string): string {
  return applyStyle(style, text, { stream: process.stdout });
}

/** The width of each column. `terminal` is the width of the terminal, 0 without one. */
function fittingWidths(columns: readonly Column[], rows: readonly (readonly string[])[], terminal: number): number[] {
  const widths = columns.map(({ heading }, index) =>
    rows.reduce((most, row) => Math.max(most, stringWidth(row[index] ?? "")), heading.length),
  );
  if (terminal === 0) return widths;
  let excess = widths.reduce((sum, width) => sum + width + GAP.length, -GAP.length) - terminal;
  for (; excess > 0; excess--) {
    const cuttable = columns.flatMap(({ leastWidth, isCutLast = false }, index) => {
      const width = widths[index] ?? 0;
      return leastWidth === undefined || width <= leastWidth ? [] : [{ index, width, isCutLast }];
    });
    const [next] = cuttable.sort((a, b) => Number(a.isCutLast) - Number(b.isCutLast) || b.width - a.width);
    if (!next) break;
    widths[next.index] = next.width - 1;
  }
  return widths;
}

/** Cuts text to a width, with an ellipsis at the end. */
function cut(text: string, width: number): string {
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
