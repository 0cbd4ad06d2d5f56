import { isUtf8 } from "node:buffer";

const DEFAULT_MAX_DEPTH = 64;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

export type StrictJson = { ok: true; value: unknown } | { ok: false; reason: string };

/**
 * Parses JSON as RFC 8259 and RFC 7493 mean it: UTF-8 without a byte order mark, no member name twice in an object,
 * nesting up to `maxDepth`. The reason never holds any of the input.
 */
export function parseStrictJson(bytes: Uint8Array, maxDepth = DEFAULT_MAX_DEPTH): StrictJson {
  if (!isUtf8(bytes)) return { ok: false, reason: "is not UTF-8" };
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf)
    return { ok: false, reason: "starts with a byte order mark" };
  const { depth, members } = measure(bytes);
  if (depth > maxDepth) return { ok: false, reason: `is nested deeper than ${maxDepth} levels` };
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8"));
  } catch {
    return { ok: false, reason: "is not JSON" };
  }
  // Every member was written with one colon outside of strings; a name written twice leaves one member fewer.
  if (countMembers(value) !== members) return { ok: false, reason: "has a member name twice" };
  return { ok: true, value };
}

/** Nesting depth and number of members, counted on the bytes; exact when the text turns out to be JSON. */
function measure(bytes: Uint8Array): { depth: number; members: number } {
  let level = 0;
  let depth = 0;
  let members = 0;
  for (let i = 0; i < bytes.length; i++) {
    switch (bytes[i]) {
      case QUOTE:
        for (i++; i < bytes.length && bytes[i] !== QUOTE; i++) if (bytes[i] === BACKSLASH) i++;
        break;
      case COLON:
        members++;
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        if (++level > depth) depth = level;
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        level--;
        break;
    }
  }
  return { depth, members };
}

/** Recursion is bounded by the depth that `measure` has let through. */
function countMembers(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) count += countMembers(item);
    return count;
  }
  for (const item of Object.values(value)) count += 1 + countMembers(item);
  return count;
}
