import { storable } from "../lib/storable.ts";

/**
 * Arrays in PostgreSQL's binary format. The driver sends a Buffer as a binary value; its own text arrays cost half of
 * the rate of appends. The statement gives the type: `$1::text[]`.
 */
const OID = { bool: 16, bytea: 17, int8: 20, text: 25 };

// Dimensions, whether there are nulls, element type, length, lower bound.
const HEADER_BYTES = 20;

/** Encodes elements, null as SQL's null. Layout: `array_recv` in PostgreSQL's source. */
function array<T>(
  oid: number,
  values: readonly (T | null)[],
  sizeOf: (value: T) => number,
  write: (value: T, into: Buffer, at: number) => void,
): Buffer {
  let bytes = HEADER_BYTES + 4 * values.length;
  for (const value of values) if (value !== null) bytes += sizeOf(value);
  const into = Buffer.allocUnsafe(bytes);
  into.writeInt32BE(1, 0);
  into.writeInt32BE(values.includes(null) ? 1 : 0, 4);
  into.writeInt32BE(oid, 8);
  into.writeInt32BE(values.length, 12);
  into.writeInt32BE(1, 16);
  let at = HEADER_BYTES;
  for (const value of values) {
    const size = value === null ? -1 : sizeOf(value);
    at = into.writeInt32BE(size, at);
    if (value === null) continue;
    write(value, into, at);
    at += size;
  }
  return into;
}

/** A `text[]`. PostgreSQL's texts cannot hold U+0000: it is replaced. */
export function texts(values: readonly (string | null)[]): Buffer {
  return array(
    OID.text,
    values.map((value) => value && storable(value)),
    (value) => Buffer.byteLength(value),
    (value, into, at) => into.write(value, at),
  );
}

/** A `bigint[]` of safe integers. */
export function integers(values: readonly (number | null)[]): Buffer {
  return array(
    OID.int8,
    values,
    () => 8,
    (value, into, at) => into.writeBigInt64BE(BigInt(value), at),
  );
}

/** A `boolean[]`. */
export function booleans(values: readonly boolean[]): Buffer {
  return array(
    OID.bool,
    values,
    () => 1,
    (value, into, at) => into.writeUInt8(value ? 1 : 0, at),
  );
}

/** A `bytea[]`. */
export function bytes(values: readonly (Uint8Array | null)[]): Buffer {
  return array(
    OID.bytea,
    values,
    (value) => value.length,
    (value, into, at) => into.set(value, at),
  );
}

const ENCODERS = { text: texts, bigint: integers, boolean: booleans, bytea: bytes };

/** An array of elements of a type, by its name in SQL. */
export const arrayOf = (type: string, values: readonly unknown[]): Buffer =>
  ENCODERS[type as keyof typeof ENCODERS](values as never);

/** How some members of rows are encoded, in the order of the columns. */
type Encoders<Row> = { [Name in keyof Row]?: (values: readonly Row[Name][]) => Buffer };

/** An array for each of these members of rows, in their order. */
export function columnsOf<Row>(rows: readonly Row[], members: Encoders<NoInfer<Row>>): Buffer[] {
  const encoders = Object.entries(members) as [keyof Row, (values: readonly unknown[]) => Buffer][];
  return encoders.map(([name, encode]) => encode(rows.map((row) => row[name])));
}
