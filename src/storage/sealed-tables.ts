import { type PayloadCodec, ROW } from "./payload-codec.ts";
import { openHeld, sealHeld } from "./sealed-held.ts";

/** A row with something that is encrypted: `text` and `bytes` are these columns. */
export interface SealedRow {
  /** Its event, the number of a held delivery, or its time. */
  place: number;
  text: string;
  /** Null in a table without bytes. */
  bytes: Uint8Array | null;
  [column: string]: unknown;
}

/** A table whose rows are encrypted. */
export interface SealedTable {
  name: string;
  /** The column with the number of the event or of the held delivery, or with the time. */
  place: string;
  /** The other columns of the key. */
  key: readonly string[];
  text: string;
  bytes?: string;
  /** SQLite keeps a checksum of the bytes. */
  hasChecksum?: true;
  /** Further values that name the row, by their names. */
  named?: Readonly<Record<string, string>>;
  /** Encrypts a row anew. Throws if no key opens it. */
  reseal(codec: PayloadCodec, row: SealedRow): Pick<SealedRow, "text" | "bytes"> & { target?: string };
}

const asContent = ({ text, bytes }: SealedRow) => ({ text, bytes: bytes ?? new Uint8Array() });

function resealText(codec: PayloadCodec, name: readonly (string | number)[], { text }: SealedRow) {
  return { text: codec.sealText(name, codec.openText(name, text)), bytes: null };
}

const EVENT_OF = (column: string) => `(SELECT ${column} FROM authserve.events WHERE id = event)`;

/** All tables whose rows are encrypted. */
export const SEALED_TABLES: readonly SealedTable[] = [
  {
    name: "contents",
    place: "event",
    key: [],
    text: "headers",
    bytes: "payload",
    hasChecksum: true,
    named: { source: EVENT_OF("source"), eventId: EVENT_OF("event_id") },
    reseal(codec, row) {
      const name = ROW.contents(row.source as string, row.eventId as string);
      return codec.seal(name, codec.open(name, asContent(row)));
    },
  },
  {
    name: "conflicts",
    place: "event",
    key: ["payload_sha256"],
    text: "headers",
    bytes: "payload",
    hasChecksum: true,
    reseal(codec, row) {
      const digest = Buffer.from(row.payload_sha256 as Uint8Array).toString("hex");
      const name = ROW.conflict(row.place, digest);
      return codec.seal(name, codec.open(name, asContent(row)));
    },
  },
  {
    name: "repeats",
    place: "event",
    key: ["number"],
    text: "headers",
    named: { eventId: "event_id" },
    reseal: (codec, row) => resealText(codec, ROW.repeat(row.place, row.eventId as string), row),
  },
  {
    name: "attempts",
    place: "event",
    key: ["route", "attempt"],
    text: "response",
    reseal: (codec, row) => resealText(codec, ROW.response(row.place, row.route as string, row.attempt as number), row),
  },
  {
    name: "sent_bodies",
    place: "event",
    key: ["route"],
    text: "content_type",
    bytes: "body",
    reseal(codec, row) {
      const name = ROW.sentBody(row.place, row.route as string);
      return codec.seal(name, codec.open(name, asContent(row)));
    },
  },
  {
    name: "shadow_differences",
    place: "event",
    key: ["route"],
    text: "difference",
    reseal: (codec, row) => resealText(codec, ROW.difference(row.place, row.route as string), row),
  },
  {
    name: "held",
    place: "id",
    key: [],
    text: "headers",
    bytes: "body",
    named: { source: "source", receivedAt: "received_at", address: "address", target: "target" },
    reseal(codec, row) {
      const stored = {
        source: row.source as string,
        receivedAt: row.receivedAt as number,
        address: row.address as string,
        target: row.target as string,
        headers: row.text,
        body: row.bytes ?? new Uint8Array(),
      };
      const { target, headers, body } = sealHeld(codec, openHeld(codec, [stored])[0] ?? stored);
      return { text: headers, bytes: body, target };
    },
  },
  {
    name: "signing_keys",
    place: "created_at",
    key: ["id"],
    text: "private_key",
    reseal: (codec, row) => resealText(codec, ROW.signingKey(row.id as string), row),
  },
];
