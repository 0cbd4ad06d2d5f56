import type { ComponentChildren, VNode } from "preact";
import { html } from "../html.ts";

/** A column of a table. On phones each row is a card, and `label` names the value. */
export interface Column<Row> {
  label: string;
  cell: (row: Row) => ComponentChildren;
  /** Classes of its cells, e.g. `number`. */
  kind?: string;
  /** Its cell names the row. */
  isHeader?: boolean;
}

interface TableProps<Row> {
  caption: string;
  /** The class of the table. By default its rows are cards on a phone. */
  layout?: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
}

/** A table. The roles are written out: browsers drop them where the style makes cards of rows. */
export const table = <Row>({
  caption,
  layout = "stacked",
  columns,
  rows,
  keyOf,
}: TableProps<Row>): VNode => html`<table role="table" class=${layout}>
  <caption class="offscreen">${caption}</caption>
  <thead role="rowgroup">
    <tr role="row">${columns.map(({ label, kind }) => html`<th role="columnheader" scope="col" class=${kind}>${label}</th>`)}</tr>
  </thead>
  <tbody role="rowgroup">
    ${rows.map((row) => html`<tr role="row" key=${keyOf(row)}>${columns.map((column) => cellOf(column, row))}</tr>`)}
  </tbody>
</table>`;

function cellOf<Row>({ label, kind, cell, isHeader }: Column<Row>, row: Row): VNode {
  if (isHeader)
    return html`<th role="rowheader" scope="row" class=${kind} data-label=${label}><div>${cell(row)}</div></th>`;
  return html`<td role="cell" class=${kind} data-label=${label}><div>${cell(row)}</div></td>`;
}

/** Terms with their values. */
export const terms = (pairs: readonly (readonly [string, ComponentChildren])[]): VNode => html`<dl>
  ${pairs.map(([term, value]) => html`<div key=${term}><dt>${term}</dt><dd>${value}</dd></div>`)}
</dl>`;
