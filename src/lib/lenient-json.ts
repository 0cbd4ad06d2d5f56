import { parseStrictJson, type StrictJson } from "./strict-json.ts";

/** JSON that was read as far as it can be. */
export interface LenientJson {
  /** Undefined if nothing could be read. */
  value: unknown;
  /** What is wrong with it, as the end of a sentence about the text; null if nothing is. */
  fault: string | null;
}

/**
 * Reads JSON as senders write it: also with a byte order mark, in another charset, with a member twice, of which the last one
 * counts, with line ends in strings, a comma behind the last item, or with NaN and Infinity, which become null. A charset that is not known is read as UTF-8.
 * `parseStrict` is for callers that may have parsed the bytes before.
 */
export function readLenientJson(
  bytes: Buffer,
  charset?: string,
  parseStrict: () => StrictJson = () => parseStrictJson(bytes),
): LenientJson {
  const strict = isOther(charset) ? null : parseStrict();
  if (strict?.ok) return { value: strict.value, fault: null };
  if (bytes.length === 0) return { value: undefined, fault: "is empty" };
  const text = decode(bytes, charset);
  const value = parse(text) ?? parse(mended(text));
  return { value, fault: strict ? strict.reason : faultOfCharset(charset, value) };
}

/** Reads a JSON value for each line that is not empty (JSON Lines). */
export function readJsonLines(bytes: Buffer, charset?: string): LenientJson {
  const lines = decode(bytes, charset)
    .split("\n")
    .filter((line) => line.trim() !== "");
  const values = lines.map(parse);
  if (lines.length === 0) return { value: undefined, fault: "is empty" };
  if (values.every((value) => value !== undefined)) return { value: values, fault: null };
  return { value: undefined, fault: "has a line that is not JSON" };
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
 * The text with null for numbers that JSON lacks, with line ends and other control characters of strings escaped, and without
 * the comma that templates leave behind the last item.
 */
function mended(text: string): string {
  return text.replace(/"(?:[^"\\]|\\.?)*(?:"|$)|,(?=\s*[}\]])|\bNaN\b|-?\bInfinity\b/gs, (found) => {
    if (found === ",") return "";
    return found.startsWith('"') ? found.replace(CONTROL, escaped) : "null";
  });
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a string of JSON must not have (RFC 8259, 7)
const CONTROL = /[\0-\x1f]/g;

const escaped = (sign: string) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`;

function faultOfCharset(charset: string | undefined, value: unknown): string {
  return value === undefined ? "is not JSON" : `is in the charset ${charset}, not in UTF-8`;
}
