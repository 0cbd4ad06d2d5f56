import { timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { createHmac, type Hmac } from "./hmac.ts";
import { type Scheme, TIMESTAMP_TOLERANCE_SECONDS } from "./schemes.ts";

const HEX_LENGTH = 64;
const BASE64_LENGTH = 44;

/** A scheme bound to its key. Returns whether a delivery carries a valid signature; never throws. */
export type Verifier = (headers: IncomingHttpHeaders, body: Uint8Array, nowSeconds: number) => boolean;

/** Binds the schemes of a source to its secret: a delivery is genuine when any scheme accepts it. */
export function createVerifier(schemes: readonly Scheme[], secret: string): Verifier {
  const bound = schemes.flatMap((scheme) =>
    keysOf(scheme, secret).map((key) => ({
      ...scheme,
      hmac: createHmac("sha256", key),
      parts: partsOf(scheme.signed),
    })),
  );
  return (headers, body, nowSeconds) => bound.some((scheme) => isGenuine(scheme, headers, body, nowSeconds));
}

type BoundScheme = Scheme & { hmac: Hmac; parts: readonly Part[] };

/** A piece of the signed text. */
type Part = { text: Uint8Array } | { header: string } | "body" | "timestamp";

function partsOf(signed: string): Part[] {
  const pieces = signed.split(/(\{[^}]+\})/).filter((piece) => piece !== "");
  return pieces.map((piece) => {
    if (piece === "{body}") return "body";
    if (piece === "{ts}") return "timestamp";
    return piece.startsWith("{header:") ? { header: piece.slice("{header:".length, -1) } : { text: Buffer.from(piece) };
  });
}

// Supabase shows the secret with its version in front.
const WHSEC = /^(?:v1,)?whsec_/;
// Bits to spare in the last character are passed over, as by the senders' own libraries.
const BASE64 = /^[A-Za-z0-9+/]{2,}={0,2}$/;

/** Whether a secret begins as those of Standard Webhooks do and is none: no delivery of theirs will be genuine. */
export function isBrokenWhsec(secret: string): boolean {
  return WHSEC.test(secret) && !BASE64.test(secret.replace(WHSEC, ""));
}

/** The keys that a secret may stand for: none when it is not one for this scheme. */
function keysOf(scheme: Scheme, secret: string): Buffer[] {
  const text = Buffer.from(secret, "utf8");
  if (scheme.key === "utf8") return [text];
  const encoded = secret.replace(WHSEC, "");
  const decoded = BASE64.test(encoded) ? [Buffer.from(encoded, "base64")] : [];
  // Senders without the prefix also take the text itself, e.g. Polar.
  return encoded === secret ? [...decoded, text] : decoded;
}

function isGenuine(scheme: BoundScheme, headers: IncomingHttpHeaders, body: Uint8Array, nowSeconds: number): boolean {
  const value = headers[scheme.header];
  if (typeof value !== "string") return false;
  const candidates = signaturesIn(scheme, value).filter((text) => hasDigestLength(scheme, text));
  if (candidates.length === 0) return false;

  const timestamp = timestampOf(scheme, headers, value);
  if (scheme.timestamp && !isFresh(timestamp, nowSeconds)) return false;

  const expected = digest(scheme, headers, timestamp, body);
  if (expected === null) return false;
  return candidates.reduce((found, candidate) => isDigest(candidate, expected) || found, false);
}

/** The signature texts in a header's value: one for `bare`, several while a sender rotates its secret. */
function signaturesIn(scheme: Scheme, value: string): string[] {
  switch (scheme.format) {
    case "bare":
      return [value.startsWith(scheme.label) ? value.slice(scheme.label.length) : value];
    case "pairs":
      return pairsIn(value, scheme.label);
    case "list":
      // Node puts a comma between two headers of one name.
      return value
        .split(/,? /)
        .filter((item) => item.startsWith(`${scheme.label},`))
        .map((item) => item.slice(scheme.label.length + 1));
  }
}

function pairsIn(value: string, key: string): string[] {
  return value
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item.startsWith(`${key}=`))
    .map((item) => item.slice(key.length + 1));
}

/** Whether a text is as long as a digest in an encoding of the scheme. */
function hasDigestLength({ encodings }: Scheme, { length }: string): boolean {
  return (
    (length === HEX_LENGTH && encodings.includes("hex")) || (length === BASE64_LENGTH && encodings.includes("base64"))
  );
}

/** Whether a text is the digest. Compared as encoded: decoding would pass over bits and characters that do not belong. */
function isDigest(text: string, expectedHex: string): boolean {
  if (text.length === HEX_LENGTH) return isSameHex(text.toLowerCase(), expectedHex);
  return isSameBase64(text, Buffer.from(expectedHex, "hex").toString("base64"));
}

const isSameHex = comparison(HEX_LENGTH);
const isSameBase64 = comparison(BASE64_LENGTH);

/** Makes a comparison with ASCII texts of one length, in a time that says nothing of the content. */
function comparison(length: number): (text: string, expected: string) => boolean {
  const [given, wanted] = [Buffer.alloc(length), Buffer.alloc(length)];
  return (text, expected) => {
    // Fewer bytes are written of a text whose last character has no room.
    const isWhole = given.write(text) === length && wanted.write(expected) === length;
    return isWhole && timingSafeEqual(given, wanted);
  };
}

function timestampOf(scheme: Scheme, headers: IncomingHttpHeaders, value: string): string {
  if (!scheme.timestamp) return "";
  if ("pair" in scheme.timestamp) return pairsIn(value, scheme.timestamp.pair)[0] ?? "";
  const header = headers[scheme.timestamp.header];
  return typeof header === "string" ? header : "";
}

function isFresh(timestamp: string, nowSeconds: number): boolean {
  return /^[0-9]{1,12}$/.test(timestamp) && Math.abs(nowSeconds - Number(timestamp)) <= TIMESTAMP_TOLERANCE_SECONDS;
}

/** The HMAC-SHA256 that the delivery should carry, in hex; null when a header that is part of the signed text is missing. */
function digest(scheme: BoundScheme, headers: IncomingHttpHeaders, timestamp: string, body: Uint8Array): string | null {
  const pieces: Uint8Array[] = [];
  for (const part of scheme.parts) {
    if (part === "body") pieces.push(body);
    else if (part === "timestamp") pieces.push(Buffer.from(timestamp));
    else if ("text" in part) pieces.push(part.text);
    else {
      const header = headers[part.header];
      if (typeof header !== "string") return null;
      // Node gives each byte that was sent as a character.
      pieces.push(Buffer.from(header, "latin1"));
    }
  }
  return scheme.hmac(...pieces);
}
