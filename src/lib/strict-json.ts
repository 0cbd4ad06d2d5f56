import { isUtf8 } from "node:buffer";

const MAX_DEPTH = 64;

const QUOTE = 0x22;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** A parsed value, or the reason for the refusal, as the end of a sentence about the text. */
export type StrictJson = { ok: true; value: unknown } | { ok: false; reason: string };

/**
 * Parses JSON by RFC 8259 and RFC 7493: UTF-8 without a byte order mark, unique member names in each object, at most
 * 64 levels. The reason never contains any of the input.
 */
export function parseStrictJson(bytes: Buffer): StrictJson {
  if (!isUtf8(bytes)) return { ok: false, reason: "is not UTF-8" };
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf)
    return { ok: false, reason: "starts with a byte order mark" };
  const text = bytes.toString("utf8");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { ok: false, reason: "is not JSON" };
  }
  const reason = faultOfStructure(text);
  return reason === null ? { ok: true, value } : { ok: false, reason };
}

/** Whether a parsed value is an object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Finds faults that `JSON.parse` accepts: too many levels, and repeated names, of which it keeps the last value. */
function faultOfStructure(json: string): string | null {
  /** The names of each open object; null for an open array. */
  const open: (Set<string> | null)[] = [];
  for (let at = 0; at < json.length; at++) {
    switch (json.charCodeAt(at)) {
      case OPEN_BRACE:
      case OPEN_BRACKET:
        if (open.length === MAX_DEPTH) return `is nested deeper than ${MAX_DEPTH} levels`;
        open.push(json.charCodeAt(at) === OPEN_BRACE ? new Set() : null);
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        open.pop();
        break;
      case QUOTE: {
        const end = endOfString(json, at);
        const names = open[open.length - 1];
        if (names && isName(json, end)) {
          const name = nameIn(json.slice(at, end + 1));
          if (names.has(name)) return "has a member name twice";
          names.add(name);
        }
        at = end;
      }
    }
  }
  return null;
}

/** The index of a string's closing quote. */
function endOfString(json: string, start: number): number {
  let at = start + 1;
  for (;;) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) return at;
    at += code === BACKSLASH ? 2 : 1;
  }
}

/** Whether the string that ends here is a member name: only a name is followed by a colon. */
function isName(json: string, end: number): boolean {
  let at = end + 1;
  while (json.charCodeAt(at) <= 0x20) at++;
  return json.charCodeAt(at) === COLON;
}

function nameIn(quoted: string): string {
  return quoted.includes("\\") ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);
}
