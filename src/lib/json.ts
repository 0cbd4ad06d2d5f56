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
  if (hasMark(bytes)) return { ok: false, reason: "starts with a byte order mark" };
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

const hasMark = (bytes: Buffer) => bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;

/** A text in UTF-8 without its byte order mark. */
export const withoutMark = (bytes: Buffer) => (hasMark(bytes) ? bytes.subarray(3) : bytes);

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

/** The place of the quotation mark that ends the string that begins here, in a text that is JSON. */
export function endOfString(json: string, start: number): number {
  let at = start + 1;
  for (;;) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) return at;
    at += code === BACKSLASH ? 2 : 1;
  }
}

/** Whether the string that ends here is a member name: only a name is followed by a colon. */
export function isName(json: string, end: number): boolean {
  let at = end + 1;
  while (json.charCodeAt(at) <= 0x20) at++;
  return json.charCodeAt(at) === COLON;
}

/** The name that is written in quotation marks. */
export function nameIn(quoted: string): string {
  return quoted.includes("\\") ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);
}

/** JSON that was read as far as it can be. */
export interface LenientJson {
  /** Undefined if nothing could be read. */
  value: unknown;
  /** What is wrong with it, as the end of a sentence about the text; null if nothing is. */
  fault: string | null;
}

/**
 * Reads JSON as senders write it: also with a byte order mark, in another charset, with line ends in strings, or with a
 * comma behind the last item. Of a member that is there twice, the last one counts. NaN and Infinity become null. A
 * charset that is not known is read as UTF-8. `parseStrict` is for callers that may have parsed the bytes before.
 */
export function readLenientJson(
  bytes: Buffer,
  charset?: string,
  parseStrict: () => StrictJson = () => parseStrictJson(bytes),
): LenientJson {
  const strict = parseStrict();
  if (bytes.length === 0) return { value: undefined, fault: "is empty" };
  const value = strict.ok ? strict.value : readIn(charsetsOf(bytes, charset), bytes);
  if (isOther(charset)) return { value, fault: faultOfCharset(charset, value) };
  return { value, fault: strict.ok ? null : strict.reason };
}

/** No signature covers the charset that is named. So what can be read as UTF-8 is never read otherwise. */
function charsetsOf(bytes: Buffer, named: string | undefined): string[] {
  const others = isOther(named) ? [named] : [];
  return isUtf8(bytes) ? ["utf-8", ...others] : [...others, "utf-8"];
}

/** The value in the first charset in which there is one. */
function readIn(charsets: readonly string[], bytes: Buffer): unknown {
  for (const charset of charsets) {
    const text = decode(bytes, charset);
    const value = parse(text) ?? parse(corrected(text));
    if (value !== undefined) return value;
  }
  return undefined;
}

/** Reads a JSON value for each line that is not empty (JSON Lines). */
export function readJsonLines(bytes: Buffer, charset?: string): LenientJson {
  const values: unknown[] = [];
  for (const line of decode(bytes, charset).split("\n")) {
    if (line.trim() === "") continue;
    const value = parse(line);
    // Each failure costs time. A body may have very many lines.
    if (value === undefined) return { value: undefined, fault: "has a line that is not JSON" };
    values.push(value);
  }
  return values.length === 0 ? { value: undefined, fault: "is empty" } : { value: values, fault: null };
}

function isOther(charset: string | undefined): charset is string {
  return charset !== undefined && !/^(?:utf-?8|us-ascii)$/i.test(charset);
}

/** Decodes a text without its byte order mark. What is no text becomes replacement characters. */
function decode(bytes: Buffer, charset = "utf-8"): string {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * The text with null for numbers that JSON lacks, and with line ends and other control characters of strings escaped.
 * The comma that templates leave behind the last item is left out.
 */
function corrected(text: string): string {
  let isInString = false;
  return text.replace(PIECE, (found) => {
    if (found === '"') isInString = !isInString;
    if (isInString) return found.replace(CONTROL, escaped);
    if (found === ",") return "";
    return /^-?[NI]/.test(found) ? "null" : found;
  });
}

// A string as one match would take a stack as long as the string.
// biome-ignore lint/suspicious/noControlCharactersInRegex: see below
const PIECE = /\\.|"|[\0-\x1f]|,(?=\s*[}\]])|\bNaN\b|-?\bInfinity\b/gs;

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a string of JSON must not have (RFC 8259, 7)
const CONTROL = /[\0-\x1f]/g;

const escaped = (sign: string) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`;

function faultOfCharset(charset: string | undefined, value: unknown): string {
  return value === undefined ? "is not JSON" : `is in the charset ${charset}, not in UTF-8`;
}
