// biome-ignore-all lint/a11y/noRedundantRoles: browsers drop the roles where the style makes cards of rows
import type { ComponentChildren, VNode } from "preact";

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
  /** `fromEnd` counts down to 1: it stays when rows are added before the first. */
  keyOf: (row: Row, fromEnd: number) => string;
}

/** A table. */
export function table<Row>({ caption, layout = "stacked", columns, rows, keyOf }: TableProps<Row>): VNode {
  return (
    <table role="table" class={layout}>
      <caption class="offscreen">{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map(({ label, kind }) => (
            <th role="columnheader" scope="col" class={kind}>
              {label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row, index) => (
          <tr role="row" key={keyOf(row, rows.length - index)}>
            {columns.map((column) => cellOf(column, row))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function cellOf<Row>({ label, kind, cell, isHeader }: Column<Row>, row: Row): VNode {
  if (isHeader)
    return (
      <th role="rowheader" scope="row" class={kind} data-label={label}>
        <div>{cell(row)}</div>
      </th>
    );
  return (
    <td role="cell" class={kind} data-label={label}>
      <div>{cell(row)}</div>
    </td>
  );
}

/** Terms with their values. */
export const terms = (pairs: readonly (readonly [string, ComponentChildren])[]): VNode => (
  <dl>
    {pairs.map(([term, value]) => (
      <div key={term}>
        <dt>{term}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
);
