import { isUtf8 } from "node:buffer";

/** What back ends may make of a path. Without `lenient`, every back end reads it as it is. */
type PathReading =
  | { segments: readonly string[]; lenient: null }
  | {
      /** The decoded segments, as the path has them. */
      segments: readonly string[];
      /** The segments as a lenient back end reads them. */
      lenient: readonly string[];
      /**
       * The segments at the beginning which every back end reads as they are: each reading stays in the folder that
       * they name. None if some reading may lead out of it, or is not known.
       */
      certain: readonly string[];
    };

// IIS also reads `%u002e`.
const ENCODED = /%(?:u00)?([0-9a-f]{2})/gi;
// Some back end reads each of these differently once it is decoded: `;` begins parameters, `\` is a slash, `#` and `?`
// end the path, and `%2e` may be decoded twice.
const ODD = /[/;\\#?]|\p{Cc}|%u?[0-9a-f]{2}/iu;

/** Reads the path of a URL, without its query. */
export function readPath(path: string): PathReading {
  const raw = path.split("/").slice(1);
  const segments = raw.map(decoded);
  const odd = raw.findIndex((segment, index) => !isPlainSegment(segment, segments[index], index === raw.length - 1));
  if (odd === -1) return { segments: segments as string[], lenient: null };
  const isKnown = !segments.includes(null) && !mayLeadOut(raw.slice(odd).join("/"));
  return {
    segments: segments.map((segment, index) => segment ?? (raw[index] as string)),
    lenient: lenientSegments(path),
    certain: isKnown ? (segments.slice(0, odd) as string[]) : [],
  };
}

// Some back ends leave these out, so that they may hide a dot.
const UNSEEN = /[\s\p{C}+;]/gu;

/** Whether some back end may read `..` in a text, or reads it in a way that is not known. */
function mayLeadOut(raw: string): boolean {
  const text = withoutLayers(raw);
  // What is not ASCII must be encoded as UTF-8.
  if (/[^\x21-\x7e]/.test(raw) || text.search(ENCODED) !== -1 || /%u/i.test(text)) return true;
  const whole = Buffer.from(text, "latin1").toString("utf8");
  const parts = whole.replace(UNSEEN, "").split(/[/\\]/);
  return whole.includes("\ufffd") || parts.some((part) => part.startsWith(".."));
}

/** Whether there is only one way to read a segment. Only the last one may be empty. */
function isPlainSegment(raw: string, segment: string | null | undefined, isLast: boolean): boolean {
  if (typeof segment !== "string" || (segment === "" && !isLast)) return false;
  // Windows drops dots and spaces at the end of a name, and other back ends trim it.
  if (segment.endsWith(".") || segment !== segment.trim()) return false;
  // What is not ASCII must be encoded.
  return /^[\x21-\x7e]*$/.test(raw) && !ODD.test(segment);
}

/** The decoded text of a segment; null if it is not the encoding of UTF-8. */
function decoded(segment: string): string | null {
  if (!segment.includes("%")) return segment;
  // An exception for each of many segments would take long.
  if (/%(?![0-9a-f]{2})/i.test(segment)) return null;
  return isUtf8(Buffer.from(withoutLayer(segment, /%([0-9a-f]{2})/gi), "latin1")) ? decodeURIComponent(segment) : null;
}

// Each time a layer of encoding is removed, so that a long path ends soon.
const MAX_LAYERS = 5;

/** The segments as the most lenient back end reads them. */
function lenientSegments(path: string): string[] {
  const whole = Buffer.from(["#", "?", "\0"].reduce(beginning, withoutLayers(path)), "latin1").toString("utf8");
  const found: string[] = [];
  const parts = whole.replaceAll("\\", "/").split("/");
  for (const part of parts) {
    const text = beginning(part, ";").trim();
    const segment = withoutDots(text);
    if (text === "..") found.pop();
    else if (segment !== "") found.push(segment);
  }
  // The path of a folder ends with an empty segment.
  if (withoutDots(beginning(parts.at(-1) ?? "", ";")) === "") found.push("");
  return found;
}

/** The text with its encoding removed, one byte a character. */
function withoutLayers(path: string): string {
  let text = path;
  for (let layer = 0; layer < MAX_LAYERS && text.includes("%"); layer++) text = withoutLayer(text, ENCODED);
  return text;
}

const withoutLayer = (text: string, escapes: RegExp) =>
  text.replace(escapes, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));

/** The text without the dots and spaces at its end. A pattern would take quadratic time for many of them. */
function withoutDots(text: string): string {
  let end = text.length;
  while (end > 0 && ". ".includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

/** The text before a character; all of it without one. */
const beginning = (text: string, end: string) => text.split(end, 1)[0] ?? "";

/** Whether segments match a pattern: `*` is one segment, and `**` at the end is the rest, also nothing. */
export function matchesPath(pattern: readonly string[], segments: readonly string[]): boolean {
  // A thousand patterns are compared for a request: an iterator for each would take most of the time.
  for (let index = 0; index < pattern.length; index++) {
    const part = pattern[index];
    if (part === "**") return true;
    const segment = segments[index];
    if (segment === undefined || (part === "*" ? segment === "" : part !== segment)) return false;
  }
  return pattern.length === segments.length;
}
