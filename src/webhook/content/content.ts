import { hash } from "node:crypto";
import { bodyFault } from "../../lib/body-fault.ts";
import { ExactNumber, mayHaveExactNumbers, parseExactJson } from "../../lib/exact-json.ts";
import { hasTooManyFields } from "../../lib/form-encoded.ts";
import { JSON_FIELDS, looksLikeJson } from "../../lib/form-json.ts";
import { charsetIn, FORM, isJson, isJsonLines, MULTIPART, mediaTypeIn } from "../../lib/header-value.ts";
import {
  type LenientJson,
  parseStrictJson,
  readJsonLines,
  readLenientJson,
  type StrictJson,
  type UnreadShape,
  withoutMark,
} from "../../lib/json.ts";
import { dottedValueAt, valueAt } from "../../lib/json-path.ts";
import { parseMultipart } from "../../lib/multipart.ts";

/** The body of a delivery, parsed when it is first asked for. */
export interface Content {
  /** The body as received. */
  bytes: Buffer;
  /** As it was sent. */
  contentType: string;
  /** In lower case, without parameters. */
  mediaType: string;
  /** Whether it can be read as a JSON object or array, whatever its media type. */
  isJson(): boolean;
  /** The body as JSON. */
  json(): StrictJson;
  /** The fields of a form, of either media type; none in another body, or in one that is malformed. */
  form(): URLSearchParams;
  /**
   * The member at a path: names with dots between them. Undefined if it is missing. Members of a form are its fields,
   * then the members of the JSON in it, then `filename` and `size` of each file.
   */
  member(path: string): unknown;
  /**
   * As `member`, in what can be read of a body that is not quite JSON, and by names with dots. Signatures are never
   * read so.
   */
  lenientMember(path: string): unknown;
  /** As `lenientMember`, with all digits of numbers. */
  exactMember(path: string): unknown;
  /** The digits of an integer at a path that is too large for a number; undefined for anything else. */
  longInteger(path: string): string | undefined;
  /** The body as JSON or JSON Lines, as far as it can be read. */
  lenientJson(): LenientJson;
  /** Why the body is not what its `Content-Type` says, as the end of a sentence; null if it is, or may be. */
  fault(): string | null;
  /** Why the JSON in it is not read, if that is its shape; else null. */
  unreadShape(): UnreadShape | null;
}

export { FORM, MULTIPART };

/** Wraps a body with its `Content-Type`. `json` is the body as JSON, if that was read before under another type. */
export function openContent(bytes: Buffer, contentType: string, json?: StrictJson): Content {
  const mediaType = mediaTypeIn(contentType);
  const isNamedForm = mediaType === FORM || mediaType === MULTIPART;
  let text: LenientJson | undefined;
  let lines: LenientJson | undefined;
  let form: OpenForm | undefined;
  let exact: unknown[] | undefined;
  const openForm = () => {
    form ??= mediaType === MULTIPART ? formOfParts(bytes, contentType) : formOfText(bytes);
    return form;
  };
  // No signature covers the Content-Type, and some senders call JSON a form. No other form can be read as JSON.
  const isForm = () => isNamedForm && !content.isJson();
  const lenientText = () => {
    text ??= readLenientJson(bytes, charsetIn(contentType), content.json);
    return text;
  };
  /** The value at a path, with all digits of its numbers. Undefined if no number needs them. */
  const exactAt = (path: string) => {
    const isLines = isJsonLines(mediaType) && content.lenientJson().value !== undefined;
    exact ??= exactValuesIn(isForm() ? openForm().json : bytes, isLines);
    return exact.map((value) => dottedValueAt(value, path)).find((found) => found !== undefined);
  };
  const exactNumberAt = (path: string) => {
    const found = exactAt(path);
    return found instanceof ExactNumber ? found : undefined;
  };
  const content: Content = {
    bytes,
    contentType,
    mediaType,
    isJson: () => beginsAsJson(bytes) && lenientText().value !== undefined,
    json() {
      json ??= parseStrictJson(bytes);
      return json;
    },
    // What is read as JSON has no fields, so that no signature covers some that are not read.
    form: () => (isForm() ? openForm().fields : NO_FIELDS),
    member: (path) => (isForm() ? openForm().member(path) : memberOfJson(content.json(), path)),
    lenientMember(path) {
      if (isForm()) return openForm().member(path);
      // One line of JSON is JSON too.
      return dottedValueAt(content.lenientJson().value, path) ?? dottedValueAt(lenientText().value, path);
    },
    exactMember(path) {
      const member = content.lenientMember(path);
      return typeof member === "number" || typeof member === "object" ? (exactAt(path) ?? member) : member;
    },
    longInteger(path) {
      const text = exactNumberAt(path)?.text ?? "";
      return /^-?[0-9]+$/.test(text) ? text : undefined;
    },
    lenientJson() {
      if (!isJsonLines(mediaType)) return lenientText();
      lines ??= (isOneLine(bytes) ? oneLineOf(content.json()) : null) ?? readJsonLines(bytes, charsetIn(contentType));
      return lines;
    },
    unreadShape() {
      if (isJson(mediaType) || isJsonLines(mediaType) || beginsAsJson(bytes))
        return content.lenientJson().shape ?? null;
      return isForm() ? openForm().unreadShape() : null;
    },
    fault: () =>
      isJson(mediaType) || isJsonLines(mediaType) ? content.lenientJson().fault : bodyFault(bytes, contentType),
  };
  return content;
}

const NO_FIELDS = new URLSearchParams();

/** Whether nothing but white space follows the first line end. */
function isOneLine(bytes: Buffer): boolean {
  const end = bytes.indexOf("\n");
  return end === -1 || !/\S/.test(bytes.toString("latin1", end));
}

/** JSON as the only line of JSON Lines; null if it is not strict. */
const oneLineOf = (json: StrictJson): LenientJson | null => (json.ok ? { value: [json.value], fault: null } : null);

interface OpenForm {
  fields: URLSearchParams;
  /** The JSON in it. */
  json: Buffer | null;
  unreadShape: Content["unreadShape"];
  member: Content["member"];
}

function formOfText(bytes: Buffer): OpenForm {
  if (hasTooManyFields(bytes)) return { ...withMembers(NO_FIELDS, null), unreadShape: () => "too_many_fields" };
  // URLSearchParams takes ten times as long for plus signs as for blanks.
  const fields = new URLSearchParams(withSigns(bytes.toString("utf8").replaceAll("+", " ")));
  return withMembers(fields, jsonIn(fields));
}

/** Whether a text begins with an object or an array of JSON. */
export function beginsAsJson(bytes: Buffer): boolean {
  return looksLikeJson(bytes.toString("latin1", 0, 64));
}

/** The fields of a body with several parts. The content of files is not looked into. */
function formOfParts(bytes: Buffer, contentType: string): OpenForm {
  const fields = new URLSearchParams();
  const files: [name: string, file: object][] = [];
  for (const { name, filename, bytes: value } of parseMultipart(bytes, contentType) ?? []) {
    if (filename === undefined) fields.append(name, value.toString("utf8"));
    else files.push([name, { filename, size: value.length }]);
  }
  return withMembers(fields, jsonIn(fields), Object.fromEntries(files));
}

function withMembers(fields: URLSearchParams, json: Buffer | null, files: object = {}): OpenForm {
  let parsed: StrictJson | undefined;
  const read = (): StrictJson => {
    parsed ??= json ? parseStrictJson(json) : { ok: true, value: undefined };
    return parsed;
  };
  return {
    fields,
    json,
    unreadShape() {
      const found = read();
      return (!found.ok && found.shape) || null;
    },
    member: (path) => fields.get(path) ?? memberOfJson(read(), path) ?? valueAt(files, path),
  };
}

function jsonIn(fields: URLSearchParams): Buffer | null {
  const text = jsonTextIn(fields);
  return text === undefined ? null : Buffer.from(text);
}

/** The text in the fields of a form that looks like its whole payload as JSON. */
export function jsonTextIn(fields: URLSearchParams): string | undefined {
  const texts = JSON_FIELDS.map((name) => fields.get(name) ?? "");
  return texts.find(looksLikeJson);
}

/** Adds the equals sign to names without one: `URLSearchParams` takes quadratic time for many of them. */
function withSigns(form: string): string {
  return form.replace(/(^|&)([^=&]+)(?=&|$)/g, "$1$2=");
}

/** Whether a text is the SHA-256 of a body, in hex of any case or in base64. */
export function isSha256Of({ bytes }: Content, text: unknown): boolean {
  if (typeof text !== "string") return false;
  const digest = hash("sha256", bytes, "buffer");
  return text.toLowerCase() === digest.toString("hex") || text === digest.toString("base64");
}

/** Text as JSON Lines and as JSON, as far as it is, with all digits of its numbers. None if no number needs them. */
function exactValuesIn(json: Buffer | null, isLines: boolean): unknown[] {
  const text = json === null ? "" : withoutMark(json).toString();
  if (!mayHaveExactNumbers(text)) return [];
  const lines = isLines ? [text.split("\n").filter((line) => /\S/.test(line))] : [];
  return [...lines.map((all) => all.map(exactValueIn)), exactValueIn(text)];
}

function exactValueIn(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    return undefined;
  }
}

function memberOfJson(parsed: StrictJson, path: string): unknown {
  return parsed.ok ? valueAt(parsed.value, path) : undefined;
}
