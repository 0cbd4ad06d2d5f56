import type { ComponentChildren, VNode } from "preact";
import type { Resource } from "../resource.ts";
import { Heading } from "./heading.tsx";
import { shown, skeleton } from "./states.tsx";
import { type Column, table } from "./table.tsx";

interface ListProps<Data, Row> {
  title: string;
  /** Links and buttons beside the heading. */
  beside?: ComponentChildren;
  intro?: ComponentChildren;
  list: Resource<Data>;
  rowsOf: (data: Data) => readonly Row[];
  /** What is shown if there are no rows. */
  empty: VNode;
}

/** A view that is a list: its heading, and what `children` makes of its rows. */
export function ListView<Data, Row>({
  title,
  beside,
  intro,
  list,
  rowsOf,
  empty,
  children,
}: ListProps<Data, Row> & { children: (rows: readonly Row[]) => VNode }): VNode {
  const drawn = (data: Data) => {
    const rows = rowsOf(data);
    return rows.length === 0 ? empty : children(rows);
  };
  return (
    <>
      <Heading title={title}>{beside}</Heading>
      {intro && <p class="soft">{intro}</p>}
      {shown(list, drawn, skeleton(8))}
    </>
  );
}

interface TableProps<Data, Row> extends ListProps<Data, Row> {
  columns: readonly Column<Row>[];
  keyOf: (row: Row, fromEnd: number) => string;
}

/** A view that is one table. */
export const TableView = <Data, Row>({ columns, keyOf, ...list }: TableProps<Data, Row>): VNode => (
  <ListView {...list}>{(rows) => table({ caption: list.title, rows, keyOf, columns })}</ListView>
);
