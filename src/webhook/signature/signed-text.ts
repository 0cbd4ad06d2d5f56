import { hash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { queryOf } from "../../lib/request-target.ts";
import type { Content } from "../content/content.ts";

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

/** Signatures that belong to one timestamp. */
export interface SignatureGroup extends HeaderItems {
  signatures: string[];
}

/** A form of the signature header that one provider has. */
export interface OwnFormat {
  /** The signatures in a header, in groups of one timestamp. */
  read(value: string): (Pick<SignatureGroup, "signatures"> & Partial<HeaderItems>)[];
  write(signature: string, items: HeaderItems): string;
}

/** Returns the bytes of one part of the signed text; null if the delivery does not have it. */
type Part = (request: SignedRequest, items: HeaderItems) => Uint8Array | null;

/**
 * A part of the signed text that one provider has, or a few: `{own:NAME}` with the name under which its scheme brings
 * it.
 */
export interface OwnPart {
  read: Part;
  /** What it covers of a delivery, besides what other parts cover. */
  covers?: Partial<Covered>;
  /** Whether it reads the address. */
  readsAddress?: true;
  /** What a sender adds for it before it signs: headers, or items of the signature header. */
  adds?(headers: Readonly<Record<string, string>>): Partial<Record<"headers" | "items", Record<string, string>>>;
}

/** A text with placeholders, and the own parts that it may have, by name. */
interface TextLayout {
  signed: string;
  parts?: Readonly<Record<string, OwnPart>>;
}

/** A signed text, ready to be read from deliveries. */
interface SignedText {
  parts: readonly Part[];
  /** Whether it covers the address. */
  hasAddress: boolean;
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

const NAMED = /^\{(header|query|form|json|pair|option|own):([^{}]+)\}$/;
const PLAIN = /^\{(?:body|timestamp|url|path|method)\}$/;
const BODY_DIGEST = /^\{body-(md5|sha1|sha256|sha512)(?:-(hex|base64))?\}$/;

/** Splits a text into literals and placeholders. */
function split(signed: string): string[] {
  return signed.split(/(\{[^{}]*\})/).filter((piece) => piece !== "");
}

/** Returns the first placeholder of a text that does not exist; undefined if there is none. */
export function unknownPlaceholder({ signed, parts = {} }: TextLayout): string | undefined {
  return split(signed).find((piece) => {
    const [, kind, name = ""] = NAMED.exec(piece) ?? [];
    const isPlain = PLAIN.test(piece) || BODY_DIGEST.test(piece);
    const isKnown = kind === "own" ? Object.hasOwn(parts, name) : kind !== undefined || isPlain;
    return piece.startsWith("{") && !isKnown;
  });
}

/** Prepares a text with placeholders, see `SignatureLayout`. Options that are not set are empty. */
export function parseSignedText(layout: TextLayout, options: Options = {}): SignedText {
  const { signed } = layout;
  const own = ownPartsOf(layout);
  return {
    parts: split(signed).map((piece) => partOf(piece, layout.parts, options)),
    hasAddress: /\{(?:url|path|query)[:}]/.test(signed) || own.some(({ readsAddress }) => readsAddress),
    covered: {
      body: coversBody(layout),
      members: [
        ...["json", "form"].flatMap((kind) => named(signed, kind)),
        ...own.flatMap((part) => part.covers?.members ?? []),
      ],
      headers: [...named(signed, "header"), ...own.flatMap((part) => part.covers?.headers ?? [])],
    },
  };
}

/** The own parts in a text. */
export function ownPartsOf({ signed, parts = {} }: TextLayout): OwnPart[] {
  return named(signed, "own").flatMap((name) => parts[name] ?? []);
}

/** The names in the placeholders of a kind. */
function named(signed: string, kind: string): string[] {
  return split(signed).flatMap((piece) => {
    const match = NAMED.exec(piece);
    return match?.[1] === kind ? [match[2] as string] : [];
  });
}

/** Whether a signed text covers the whole body. */
export function coversBody(layout: TextLayout): boolean {
  return (
    split(layout.signed).some((piece) => piece === "{body}" || BODY_DIGEST.test(piece)) ||
    ownPartsOf(layout).some(({ covers }) => covers?.body)
  );
}

/** What can be the same of two signed texts. Those of different hash functions never have one signature. */
type Cut = TextLayout & { algorithm: string; timestamp?: { unit?: string } };

/**
 * Whether another body could have the same signed text, cut in another place: beside a part of any length, or as the
 * text of another layout. A time of one unit has one length for centuries.
 */
export function hasOtherCuts(layouts: readonly Cut[]): boolean {
  return [...Map.groupBy(layouts, ({ algorithm }) => algorithm).values()].some(
    (same) =>
      same.some(coversBody) &&
      (new Set(same.map(shapeOf)).size > 1 || same.some(({ signed }) => OPEN_CUT.test(signed))),
  );
}

/** A signed text, but for the names of headers, and with the unit of its time. */
function shapeOf({ signed, timestamp }: Cut): string {
  const time = `{timestamp}${timestamp?.unit ?? "s"}`;
  return signed.replace(/\{header:[^{}]+\}/g, "{header}").replace("{timestamp}", time);
}

const OPEN_CUT = /\{(?:url|path|method|header|(?:query|pair|own):[^{}]+)\}\.?\{body\}|\{body\}\{(?!timestamp\})/;

function partOf(piece: string, own: TextLayout["parts"] = {}, options: Options): Part {
  switch (piece) {
    case "{body}":
      return ({ content }) => content.bytes;
    case "{timestamp}":
      return (_, { timestamp }) => Buffer.from(timestamp);
    case "{url}":
      return ({ origin, target }) => bytesOf(origin + target);
    case "{path}":
      return ({ target }) => bytesOf(target);
    case "{method}":
      return ({ method }) => bytesOf(method);
  }
  const [, digest, encoding] = BODY_DIGEST.exec(piece) ?? [];
  if (digest !== undefined) {
    return ({ content: { bytes } }) =>
      encoding === undefined ? hash(digest, bytes, "buffer") : Buffer.from(hash(digest, bytes, encoding as "hex"));
  }
  const [, kind, name = ""] = NAMED.exec(piece) ?? [];
  switch (kind) {
    case "header":
      return ({ headers }) => bytesOf(headerText(headers, name));
    case "query":
      return ({ target }) => textOf(queryOf(target).get(name));
    case "form":
      return ({ content }) => textOf(content.form().get(name));
    case "json":
      return ({ content }) => textOf(content.member(name));
    case "option":
      return () => Buffer.from(options[name] ?? "");
    case "pair":
      return (_, items) => bytesOf(items.pair(name));
  }
  const literal = Buffer.from(piece);
  return own[name]?.read ?? (() => literal);
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

/** The value of a header; undefined if it is not there. */
export function headerText(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" ? value : undefined;
}

/** The bytes of a header or the request line. Node decodes each byte as one character. */
export function bytesOf(text: string | undefined): Uint8Array | null {
  return text === undefined ? null : Buffer.from(text, "latin1");
}

/** A decoded value as UTF-8. */
function textOf(value: unknown): Uint8Array | null {
  if (typeof value === "string") return Buffer.from(value);
  return typeof value === "number" ? Buffer.from(String(value)) : null;
}
