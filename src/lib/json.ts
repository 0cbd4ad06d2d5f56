import { isUtf8 } from "node:buffer";
import { MAX_FIELDS } from "./form-encoded.ts";

const MAX_STRICT_DEPTH = 64;

// What `JSON.parse` takes long for, whatever the size: 500,000 levels 0.3 s, 100,000 different names 0.4 s, 250,000
// objects 0.4 s. A push of GitHub with 2,048 commits has 80,000 values.
const MAX_DEPTH = 1000;
const MAX_NAMES = 10_000;
const MAX_VALUES = 120_000;
const MOST = { names: MAX_NAMES, values: MAX_VALUES };

/** What is wrong with the shape of a delivery, as the end of a sentence about the text. */
export const SHAPE_FAULTS: Record<UnreadShape, string> = {
  too_deep: `is nested deeper than ${MAX_DEPTH} levels`,
  too_many_names: `has more than ${MAX_NAMES} different names`,
  too_many_values: `has more than ${MAX_VALUES} values`,
  too_many_fields: `has more than ${MAX_FIELDS} fields`,
};

const LINE_END = 0x0a;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** 1 for the characters that tell the shape of a text. */
const IS_SIGN = new Uint8Array(0x10000);
for (const code of [LINE_END, QUOTE, COMMA, OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE]) IS_SIGN[code] = 1;

/** A shape that is not read at all: no sender has so many levels, names or values. */
export type UnreadShape = "too_deep" | "too_many_names" | "too_many_values" | "too_many_fields";

/**
 * A parsed value, or the reason for the refusal, as the end of a sentence about the text. A value that was refused for
 * its structure alone is there too.
 */
export type StrictJson =
  | { ok: true; value: unknown }
  | { ok: false; reason: string; value?: unknown; shape?: UnreadShape };

/**
 * Parses JSON by RFC 8259 and RFC 7493: UTF-8 without a byte order mark, unique member names in each object, at most
 * 64 levels. The reason never contains any of the input.
 */
export function parseStrictJson(bytes: Buffer): StrictJson {
  if (!isUtf8(bytes)) return { ok: false, reason: "is not UTF-8" };
  if (hasMark(bytes)) return { ok: false, reason: "starts with a byte order mark" };
  const text = bytes.toString("utf8");
  const { unread, fault } = shapeOf(text);
  if (unread !== null) return { ok: false, reason: SHAPE_FAULTS[unread], shape: unread };
  const value = parse(text);
  if (value === undefined) return { ok: false, reason: "is not JSON" };
  return fault === null ? { ok: true, value } : { ok: false, reason: fault, value };
}

/** What has been met of a text that may be JSON. */
interface Met {
  /** The names of each open object; null for an open array. */
  open: (Set<string> | null)[];
  names: Set<string>;
  values: number;
  most: typeof MOST;
  /** What `JSON.parse` accepts, but strict JSON does not: too many levels, or a name twice (the last value counts). */
  fault: string | null;
}

/** Looks at the levels, names and values of a text that may be JSON, in one pass. It ends where the text is refused. */
function shapeOf(text: string, most: typeof MOST = MOST): Met & { unread: UnreadShape | null } {
  const met: Met = { open: [], names: new Set(), values: 0, most, fault: null };
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    // Most of a large text are other characters.
    if (IS_SIGN[code] !== 1) continue;
    let unread: UnreadShape | null = null;
    if (code === QUOTE) {
      const end = endOfString(text, at);
      if (isName(text, end)) unread = meetName(met, nameIn(text.slice(at, end + 1)));
      at = end;
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) unread = meetContainer(met, code === OPEN_BRACE);
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) met.open.pop();
    // Each line may be a value.
    else if (code === COMMA || (code === LINE_END && met.open.length === 0)) unread = meetValue(met);
    if (unread !== null) return { ...met, unread };
  }
  return { ...met, unread: null };
}

function meetName(met: Met, name: string): UnreadShape | null {
  const siblings = met.open.at(-1);
  if (siblings?.has(name)) met.fault ??= "has a member name twice";
  siblings?.add(name);
  return met.names.add(name).size > met.most.names ? "too_many_names" : null;
}

function meetContainer(met: Met, isObject: boolean): UnreadShape | null {
  if (met.open.length === MAX_DEPTH) return "too_deep";
  if (met.open.length === MAX_STRICT_DEPTH) met.fault ??= `is nested deeper than ${MAX_STRICT_DEPTH} levels`;
  met.open.push(isObject ? new Set() : null);
  return meetValue(met);
}

const meetValue = (met: Met): UnreadShape | null => (++met.values > met.most.values ? "too_many_values" : null);

/** Why a text must not be parsed; null if it may. The text need not be JSON. `most` are other limits. */
export const unreadShapeOf = (text: string, most?: { names: number; values: number }): UnreadShape | null =>
  shapeOf(text, most).unread;

const hasMark = (bytes: Buffer) => bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;

/** A text in UTF-8 without its byte order mark. */
export const withoutMark = (bytes: Buffer) => (hasMark(bytes) ? bytes.subarray(3) : bytes);

/** Whether a parsed value is an object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The place of the quotation mark that ends the string that begins here; the end of a text without it. */
export function endOfString(json: string, start: number): number {
  for (let at = start; ; ) {
    at = json.indexOf('"', at + 1);
    if (at === -1) return json.length;
    let before = at;
    while (json.charCodeAt(before - 1) === BACKSLASH) before--;
    if ((at - before) % 2 === 0) return at;
  }
}

/** Whether the string that ends here is a member name: only a name is followed by a colon. */
export function isName(json: string, end: number): boolean {
  let at = end + 1;
  while (json.charCodeAt(at) <= 0x20) at++;
  return json.charCodeAt(at) === COLON;
}

/** The name that is written in quotation marks. A text that is no JSON may have any escapes. */
export function nameIn(quoted: string): string {
  const name = quoted.includes("\\") ? parse(quoted) : undefined;
  return typeof name === "string" ? name : quoted.slice(1, -1);
}

/** JSON that was read as far as it can be. */
export interface LenientJson {
  /** Undefined if nothing could be read. */
  value: unknown;
  /** What is wrong with it, as the end of a sentence about the text; null if nothing is. */
  fault: string | null;
  /** Why nothing of it was read, if that is its shape. */
  shape?: UnreadShape;
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
  const isRead = strict.value !== undefined || (!strict.ok && strict.shape !== undefined);
  const { value, shape }: Read = isRead ? strict : readIn(charsetsOf(bytes, charset), bytes);
  if (shape !== undefined) return { value, fault: SHAPE_FAULTS[shape], shape };
  if (isOther(charset)) return { value, fault: faultOfCharset(charset, value) };
  return { value, fault: strict.ok ? null : strict.reason };
}

type Read = { value?: unknown; shape?: UnreadShape };

/** No signature covers the charset that is named. So what can be read as UTF-8 is never read otherwise. */
function charsetsOf(bytes: Buffer, named: string | undefined): string[] {
  const others = isOther(named) ? [named] : [];
  return isUtf8(bytes) ? ["utf-8", ...others] : [...others, "utf-8"];
}

/** The value in the first charset in which there is one. */
function readIn(charsets: readonly string[], bytes: Buffer): Read {
  for (const charset of charsets) {
    const text = decode(bytes, charset);
    const shape = unreadShapeOf(text);
    if (shape !== null) return { value: undefined, shape };
    const value = parse(text) ?? parseCorrected(text);
    if (value !== undefined) return { value };
  }
  return { value: undefined };
}

/** Reads a JSON value for each line that is not empty (JSON Lines). */
export function readJsonLines(bytes: Buffer, charset?: string): LenientJson {
  const values: unknown[] = [];
  const text = decode(bytes, charset);
  const shape = unreadShapeOf(text);
  if (shape !== null) return { value: undefined, fault: SHAPE_FAULTS[shape], shape };
  for (const line of text.split("\n")) {
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

// Each place that is looked at costs time. What people and templates write has few.
const MAX_PLACES = 200_000;

/**
 * Parses a text with null for numbers that JSON lacks, and with line ends and other control characters of strings
 * escaped. The comma that templates leave behind the last item is left out. Undefined if that is no JSON either.
 */
function parseCorrected(text: string): unknown {
  let isInString = false;
  if (hasTooManyPlaces(text)) return undefined;
  try {
    const corrected = text.replace(PIECE, (found) => {
      if (found === '"') isInString = !isInString;
      if (isInString) return found.replace(CONTROL, escaped);
      if (found === ",") return "";
      return /^-?[NI]/.test(found) ? "null" : found;
    });
    return JSON.parse(corrected);
  } catch {
    return undefined;
  }
}

/** Whether there are too many places to look at. `replace` would find all of them before the first one is replaced. */
function hasTooManyPlaces(text: string): boolean {
  let places = 0;
  PIECE.lastIndex = 0;
  while (places <= MAX_PLACES && PIECE.test(text)) places++;
  PIECE.lastIndex = 0;
  return places > MAX_PLACES;
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
