import { hash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { crc32 } from "node:zlib";
import { type Content, FORM } from "./content.ts";

/** The parts of a delivery that a signature may cover. */
export interface SignedRequest {
  method: string;
  /** Scheme and host as the sender wrote them, e.g. `https://hooks.example.com`. */
  origin: string;
  /** The request target as sent: path and query. */
  target: string;
  headers: IncomingHttpHeaders;
  content: Content;
}

/** What a source sets for its provider, by name. */
export type Options = Readonly<Record<string, string>>;

/** The items of a signature header. */
export interface HeaderItems {
  /** The timestamp as sent; empty without one. */
  timestamp: string;
  pair(name: string): string | undefined;
}

/** Returns the bytes of one part of the signed text; null if the delivery does not have it. */
type Part = (request: SignedRequest, items: HeaderItems) => Uint8Array | null;

/** A signed text, ready to be read from deliveries. */
export interface SignedText {
  parts: readonly Part[];
  /** Whether it covers the address. */
  hasAddress: boolean;
  /** What it covers of a delivery. Headers that an item lists do not count: their values are joined without a mark between them. */
  covered: Covered;
}

/** What a signature covers of a delivery. */
export interface Covered {
  /** The whole body, or all fields of a form. */
  body: boolean;
  /** Paths of members of the body. */
  members: readonly string[];
  /** Headers in lower case. */
  headers: readonly string[];
}

const NAMED =
  /^\{(header|headers|query|query-lower|form|form-except|json|json-or-empty|json-raw|json-escaped|members|pair|option):([^{}]+)\}$/;
const PLAIN = /^\{(body|body-sha256|body-crc32|timestamp|url|path|method|form)\}$/;

/** Splits a text into literals and placeholders. */
function split(signed: string): string[] {
  return signed.split(/(\{[^{}]*\})/).filter((piece) => piece !== "");
}

/** Returns the first placeholder of a text that does not exist; undefined if there is none. */
export function unknownPlaceholder(signed: string): string | undefined {
  return split(signed).find((piece) => piece.startsWith("{") && !PLAIN.test(piece) && !NAMED.test(piece));
}

/** Prepares a text with placeholders, see `SignatureLayout`. Options that are not set are empty. */
export function parseSignedText(signed: string, options: Options = {}): SignedText {
  const pieces = split(signed);
  const named = (kind: string) =>
    pieces.flatMap((piece) => {
      const match = NAMED.exec(piece);
      return match?.[1] === kind ? [match[2] as string] : [];
    });
  const covered: Covered = {
    body: coversBody(signed),
    members: [
      ...["json", "json-or-empty", "json-raw", "json-escaped", "form"].flatMap(named),
      ...named("members").flatMap((list) => list.split(",")),
    ],
    headers: named("header"),
  };
  return {
    parts: pieces.map((piece) => partOf(piece, options)),
    hasAddress: /\{(?:url|path|query|query-lower)[:}]/.test(signed),
    covered,
  };
}

/** Whether a signed text covers the whole body. A CRC-32 does not: anybody can make another body with the same one. */
export function coversBody(signed: string): boolean {
  return /\{(?:body|body-sha256|form|form-except:[^{}]+)\}/.test(signed);
}

function partOf(piece: string, options: Options): Part {
  switch (piece) {
    case "{body}":
      return ({ content }) => content.bytes;
    case "{body-sha256}":
      return ({ content }) => hash("sha256", content.bytes, "buffer");
    case "{body-crc32}":
      return ({ content }) => Buffer.from(String(crc32(content.bytes)));
    case "{timestamp}":
      return (_, { timestamp }) => Buffer.from(timestamp);
    case "{url}":
      return ({ origin, target }) => bytesOf(origin + target);
    case "{path}":
      return ({ target }) => bytesOf(target);
    case "{method}":
      return ({ method }) => bytesOf(method);
    case "{form}":
      return ({ content }) => (content.mediaType === FORM ? sortedFields(content.form()) : null);
  }
  const [, kind, name = ""] = NAMED.exec(piece) ?? [];
  switch (kind) {
    case "header":
      return ({ headers }) => bytesOf(headerText(headers, name));
    case "headers":
      return ({ headers }, items) => bytesOf(namesIn(items.pair(name)).map((listed) => headerText(headers, listed)));
    case "query":
      return ({ target }) => textOf(queryOf(target).get(name));
    case "query-lower":
      return ({ target }) => textOf(queryOf(target).get(name)?.toLowerCase());
    case "form":
      return ({ content }) => textOf(content.form().get(name));
    case "form-except":
      return ({ content }) =>
        content.mediaType === FORM ? Buffer.from(joinedFields(content.form(), name.split(","))) : null;
    case "json":
      return ({ content }) => textOf(content.member(name));
    case "json-or-empty":
      return ({ content }) => withoutColon(valueText(content.member(name)));
    case "json-raw":
      return ({ content }) => Buffer.from(valueText(content.member(name)));
    case "json-escaped":
      return ({ content }) => Buffer.from(valueText(content.member(name)).replace(/[\\:]/g, "\\$&"));
    case "members":
      return ({ content }) => listedMembers(content, name.split(","));
    case "option":
      return () => Buffer.from(options[name] ?? "");
    case "pair":
      return (_, items) => bytesOf(items.pair(name));
    default: {
      const literal = Buffer.from(piece);
      return () => literal;
    }
  }
}

/** The names in an item that lists headers. */
function namesIn(listed: string | undefined): string[] {
  return listed === undefined ? [] : listed.toLowerCase().split(" ");
}

/** Returns the bytes that the text covers; null if a part is missing. */
export function readSignedText({ parts }: SignedText, request: SignedRequest, items: HeaderItems): Uint8Array[] | null {
  const pieces: Uint8Array[] = [];
  for (const part of parts) {
    const piece = part(request, items);
    if (piece === null) return null;
    pieces.push(piece);
  }
  return pieces;
}

function headerText(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" ? value : undefined;
}

/** The bytes of a header or the request line, or of several headers joined by dots. Node decodes each byte as one character. */
function bytesOf(text: string | undefined | (string | undefined)[]): Uint8Array | null {
  if (!Array.isArray(text)) return text === undefined ? null : Buffer.from(text, "latin1");
  return text.includes(undefined) ? null : Buffer.from(text.join("."), "latin1");
}

/** A decoded value as UTF-8. */
function textOf(value: unknown): Uint8Array | null {
  if (typeof value === "string") return Buffer.from(value);
  return typeof value === "number" ? Buffer.from(String(value)) : null;
}

/** A value of JSON as text; empty if it is missing or no single value. */
function valueText(value: unknown): string {
  return typeof value === "object" || value === undefined ? "" : String(value);
}

/** A text of a list that colons separate. Null if it has one: parts of it could be moved to its neighbour. */
function withoutColon(text: string): Uint8Array | null {
  return text.includes(":") ? null : Buffer.from(text);
}

/**
 * Name and value of each member that is there, each with a line end. Null if another than the first has several lines, which
 * could be taken for further members.
 */
function listedMembers(content: Content, names: readonly string[]): Uint8Array | null {
  const members = names.flatMap((name, index) => {
    const value = content.member(name);
    return typeof value === "string" ? [{ name, value, mayBreak: index === 0 }] : [];
  });
  if (members.some(({ value, mayBreak }) => !mayBreak && value.includes("\n"))) return null;
  return Buffer.from(members.map(({ name, value }) => `${name}\n${value}\n`).join(""));
}

/** The parameters in the query of a request target. */
export function queryOf(target: string): URLSearchParams {
  const at = target.indexOf("?");
  return new URLSearchParams(at === -1 ? "" : target.slice(at + 1));
}

const sorted = new WeakMap<URLSearchParams, Uint8Array>();

/** The fields of a form, sorted by name, each name followed by its value. Equal fields count once. It is asked for each address. */
function sortedFields(form: URLSearchParams): Uint8Array {
  const known = sorted.get(form) ?? Buffer.from(sortedText(form));
  sorted.set(form, known);
  return known;
}

function sortedText(form: URLSearchParams): string {
  // One pass: anybody may send a form with very many names.
  const byName = [...Map.groupBy(form, ([name]) => name)].sort(([one], [other]) => (one < other ? -1 : 1));
  return byName.flatMap(([name, fields]) => [...new Set(fields.map(([, value]) => name + value))].sort()).join("");
}

/** The fields of a form, without some, sorted by name, as `name=value` joined by `&`. */
function joinedFields(form: URLSearchParams, without: readonly string[]): string {
  return [...form]
    .filter(([name]) => !without.includes(name))
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map((field) => field.join("="))
    .join("&");
}
