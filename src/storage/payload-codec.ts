import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  type KeyObject,
  randomFillSync,
} from "node:crypto";
import { AppError } from "../errors.ts";

/** A key of AES-256, with the name that encrypted rows have of it. */
export interface EncryptionKey {
  id: string;
  bytes: Uint8Array;
}

const ID_LENGTH = 16;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Names a key. The name tells nothing of the key. */
export function encryptionKey(bytes: Uint8Array): EncryptionKey {
  const id = createHmac("sha256", bytes).update("authserve encryption key").digest("hex").slice(0, ID_LENGTH);
  return { id, bytes };
}

/** What an encrypted text begins with. No headers as JSON and no media type begin so. The id of the key follows. */
const MARK = "sealed:";

/** The pattern of encrypted texts in SQL. */
export const SEALED = `${MARK}%`;

/** Stands before a plain text that looks encrypted. No key has such an id. */
const PLAIN = `${MARK}plain:`;

/** Whether a text is encrypted, and does not only look so, in SQL. */
export const IS_SEALED_SQL = (text: string) => `(${text} LIKE '${SEALED}' AND ${text} NOT LIKE '${PLAIN}%')`;

/** The id of the key in an encrypted text, in SQL. */
export const KEY_IN_SQL = (text: string) => `substr(${text}, ${MARK.length + 1}, ${ID_LENGTH})`;

/** What the encrypted texts of a key begin with. */
export const markOf = (keyId: string) => MARK + keyId;

/** The id of the key that a text is encrypted with, or that the row is of which it is a part. Null if it is plain. */
export function keyIdIn(text: string): string | null {
  return text.startsWith(MARK) && !text.startsWith(PLAIN) ? text.slice(MARK.length, MARK.length + ID_LENGTH) : null;
}

/** Why a row cannot be read, as the end of a sentence about it. */
export const missingKey = (keyId: string) => `is encrypted with the key ${keyId}, which ENCRYPTION_KEYS does not have`;

/** Names a row. What is encrypted in one row is not accepted in another one. */
export const ROW = {
  contents: (source: string, eventId: string) => ["contents", source, eventId],
  conflict: (event: number, payloadSha256: string) => ["conflict", event, payloadSha256],
  repeat: (event: number, eventId: string) => ["repeat", event, eventId],
  response: (event: number, route: string, attempt: number) => ["response", event, route, attempt],
  sentBody: (event: number, route: string) => ["sent", event, route],
  difference: (event: number, shadow: string) => ["difference", event, shadow],
  held: (source: string, receivedAt: number, address: string) => ["held", source, receivedAt, address],
  signingKey: (id: string) => ["signing_key", id],
} as const;

type RowName = readonly (string | number)[];

/** A text and the bytes of a row, which are encrypted as one. The text is then the mark of the key. */
export interface RowContent {
  text: string;
  bytes: Uint8Array;
}

/**
 * Encrypts what the stores keep of payloads, and private keys, each row by itself, and decrypts it. Opening throws
 * `encryption_key_missing` without the key, and {@link UnsealableError} if the row was changed.
 */
export interface PayloadCodec {
  /** The key that encrypts. Null: nothing is encrypted. */
  keyId: string | null;
  /** All keys that decrypt. */
  keyIds: readonly string[];
  seal(row: RowName, content: RowContent): RowContent;
  open(row: RowName, content: RowContent): RowContent;
  sealText(row: RowName, text: string): string;
  openText(row: RowName, text: string): string;
}

/** A row that no key opens: its bytes were changed, or are those of another row. */
export class UnsealableError extends Error {
  constructor() {
    super("the stored bytes do not match their encryption");
  }
}

/** Opens a row. Null if its key is missing. */
export function orNull<T>(open: () => T): T | null {
  try {
    return open();
  } catch (error) {
    if (error instanceof AppError && error.code === "encryption_key_missing") return null;
    throw error;
  }
}

/** Encrypts with the first key, and decrypts with all. */
export function createPayloadCodec(keys: readonly EncryptionKey[]): PayloadCodec {
  const known = new Map(keys.map(({ id, bytes }) => [id, createSecretKey(bytes)]));
  const [first] = keys;
  const current = first && { mark: markOf(first.id), key: known.get(first.id) as KeyObject };

  function decrypt(mark: string, row: RowName, bytes: Uint8Array): Buffer {
    const id = keyIdIn(mark) ?? "";
    const key = known.get(id);
    if (!key) throw new AppError("encryption_key_missing", { cause: new Error(`it ${missingKey(id)}`) });
    try {
      const nonce = bytes.subarray(0, NONCE_BYTES);
      const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(nameOf(row));
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
      const opened = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
      decipher.final();
      return opened;
    } catch {
      throw new UnsealableError();
    }
  }

  return {
    keyId: first?.id ?? null,
    keyIds: [...known.keys()],
    seal(row, content) {
      if (!current) return content;
      const textBytes = Buffer.byteLength(content.text);
      const plain = Buffer.allocUnsafe(LENGTH_BYTES + textBytes + content.bytes.length);
      plain.write(content.text, plain.writeUInt32BE(textBytes));
      plain.set(content.bytes, LENGTH_BYTES + textBytes);
      return { text: current.mark, bytes: encrypt(current.key, row, plain) };
    },
    open(row, content) {
      if (keyIdIn(content.text) === null) return content;
      const opened = decrypt(content.text, row, content.bytes);
      const end = LENGTH_BYTES + opened.readUInt32BE(0);
      return { text: opened.toString("utf8", LENGTH_BYTES, end), bytes: opened.subarray(end) };
    },
    sealText(row, text) {
      if (current) return `${current.mark}:${encrypt(current.key, row, Buffer.from(text)).toString("base64")}`;
      return text.startsWith(MARK) ? PLAIN + text : text;
    },
    openText(row, text) {
      if (text.startsWith(PLAIN)) return text.slice(PLAIN.length);
      if (keyIdIn(text) === null) return text;
      const bytes = Buffer.from(text.slice(MARK.length + ID_LENGTH + 1), "base64");
      return decrypt(text, row, bytes).toString();
    },
  };
}

/** Stores everything as it is. */
export const PLAIN_CODEC = createPayloadCodec([]);

const LENGTH_BYTES = 4;

function encrypt(key: KeyObject, row: RowName, plain: Uint8Array): Buffer {
  const nonce = nextNonce();
  const cipher = createCipheriv("aes-256-gcm", key, nonce);
  cipher.setAAD(nameOf(row));
  // One update: each takes about a microsecond.
  const encrypted = cipher.update(plain);
  cipher.final();
  return Buffer.concat([nonce, encrypted, cipher.getAuthTag()]);
}

const nameOf = (row: RowName) => Buffer.from(JSON.stringify(row));

// One call for many nonces: a call takes about as long as the encryption of a short payload.
const random = Buffer.alloc(NONCE_BYTES * 256);
let used = random.length;

function nextNonce(): Buffer {
  if (used === random.length) {
    randomFillSync(random);
    used = 0;
  }
  const nonce = Buffer.from(random.subarray(used, used + NONCE_BYTES));
  used += NONCE_BYTES;
  return nonce;
}
