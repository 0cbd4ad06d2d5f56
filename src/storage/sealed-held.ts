import { keyIdIn, orNull, type PayloadCodec, ROW, SEALED } from "./payload-codec.ts";

/** What of a held delivery is encrypted, and what names its row. */
interface HeldRow {
  source: string;
  receivedAt: number;
  address: string;
  target: string;
  headers: string;
  body: Uint8Array;
}

/**
 * A held delivery as it is stored. With a key, its target and headers are in its body, and `target` is the number of
 * bytes by which that is longer.
 */
export function sealHeld<Row extends HeldRow>(codec: PayloadCodec, row: Row): Row {
  if (codec.keyId === null) return row;
  const { source, receivedAt, address, target, headers, body } = row;
  const content = { text: JSON.stringify([target, headers]), bytes: body };
  const { text, bytes } = codec.seal(ROW.held(source, receivedAt, address), content);
  return { ...row, target: String(bytes.length - body.length), headers: text, body: bytes };
}

/** The bytes of a body before its encryption, in SQL. */
export const BODY_BYTES = `
CASE WHEN headers LIKE '${SEALED}' THEN length(body) - CAST(target AS INTEGER) ELSE length(body) END`;

/**
 * Held deliveries as they were. Those whose key is missing are left out, unless there is only one: then this throws
 * `encryption_key_missing`.
 */
export function openHeld<Row extends HeldRow>(codec: PayloadCodec, rows: readonly Row[]): Row[] {
  const [first] = rows;
  if (first && rows.length === 1) return [openOne(codec, first)];
  return rows.flatMap((row) => orNull(() => openOne(codec, row)) ?? []);
}

function openOne<Row extends HeldRow>(codec: PayloadCodec, row: Row): Row {
  const { source, receivedAt, address, headers: mark, body } = row;
  if (keyIdIn(mark) === null) return row;
  const { text, bytes } = codec.open(ROW.held(source, receivedAt, address), { text: mark, bytes: body });
  const [target, headers] = JSON.parse(text) as [string, string];
  return { ...row, target, headers, body: bytes };
}
