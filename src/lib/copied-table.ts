/** The kind of a column's values. */
export type ColumnKind = "integer" | "text" | "boolean" | "bytes";

/** A table that is copied from one store to another. */
export interface CopiedTable {
  name: string;
  /** The columns in the target. */
  columns: Readonly<Record<string, ColumnKind>>;
  /** The columns that identify a row. Rows are copied in their order. */
  key: readonly string[];
}

/** The key of the last row of a page, bytes in hex. Null is before the first row. */
export type Position = readonly (number | string)[] | null;

/** The next rows of a table. */
export interface CopiedRows {
  count: number;
  /** The values of each column, in the order of the table's columns. */
  columns: unknown[][];
  last: Position;
}

/** The values of a position, with bytes decoded. */
export function keyValues({ key, columns }: CopiedTable, position: Position): (number | string | Buffer)[] {
  const isBytes = (index: number) => columns[key[index] as string] === "bytes";
  return (position ?? []).map((value, index) => (isBytes(index) ? Buffer.from(String(value), "hex") : value));
}

/** The position of a row with these key values. */
export function positionOf(values: readonly unknown[]): Position {
  return values.map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString("hex") : value)) as Position;
}
