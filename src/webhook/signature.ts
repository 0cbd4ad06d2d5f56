import { timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { createHmac, type Hmac } from "./hmac.ts";
import type { Scheme } from "./schemes.ts";
import type { Source } from "./source.ts";

const HEX_LENGTH = 64;
const BASE64_LENGTH = 44;

/** The parts of a delivery that a signature may cover. */
export interface SignedRequest {
  method: string;
  /** The request target as sent. */
  url: string;
  headers: IncomingHttpHeaders;
  body: Uint8Array;
}

/** Why a delivery is refused, for the log. The sender is never told. */
export type RefusalReason =
  | "no_signature"
  | "malformed_signature"
  | "timestamp_missing"
  | "timestamp_too_old"
  | "timestamp_in_future"
  | "signature_mismatch";

/** How a genuine delivery was signed. */
export interface Verified {
  scheme: Scheme;
  /** Index of the secret, as in {@link Source}. */
  secret: number;
  /** The headers that the signature covers, in lower case. */
  signedHeaders: readonly string[];
}

/** The signatures of a delivery that may be valid, or why none can be. */
export type ReadSignatures = { candidates: readonly Candidate[] } | { reason: RefusalReason };

/** The signatures and the timestamp that one scheme found in the headers. */
interface Candidate {
  scheme: BoundScheme;
  signatures: readonly string[];
  timestamp: string;
}

/** Verifies deliveries with the schemes and secrets of a source. */
export interface Verifier {
  /** Reads the signatures from the headers, before the body is read. */
  read(headers: IncomingHttpHeaders, nowSeconds: number): ReadSignatures;
  /** Returns how the request was signed if one of the signatures is valid; else null. */
  verify(request: SignedRequest, candidates: readonly Candidate[]): Verified | null;
}

/** Creates the verifier of a source. A delivery is genuine if one scheme accepts it. Its methods never throw. */
export function createVerifier({
  schemes,
  secrets,
  toleranceSeconds,
}: Pick<Source, "schemes" | "secrets" | "toleranceSeconds">): Verifier {
  const bound = schemes.map((scheme) => bind(scheme, secrets));
  return {
    read(headers, nowSeconds) {
      const candidates: Candidate[] = [];
      let reason: RefusalReason = "no_signature";
      for (const scheme of bound) {
        const found = readScheme(scheme, headers, nowSeconds, toleranceSeconds);
        if (typeof found === "object") candidates.push(found);
        else if (found !== "no_signature") reason = found;
      }
      return candidates.length > 0 ? { candidates } : { reason };
    },
    verify(request, candidates) {
      for (const candidate of candidates) {
        const { scheme } = candidate;
        const secret = secretOf(candidate, request);
        if (secret !== undefined) return { scheme, secret, signedHeaders: scheme.signedHeaders };
      }
      return null;
    },
  };
}

type BoundScheme = Scheme & {
  parts: readonly Part[];
  signedHeaders: readonly string[];
  /** One HMAC for each key of each secret. */
  keys: readonly { hmac: Hmac; secret: number }[];
};

function bind(scheme: Scheme, secrets: readonly string[]): BoundScheme {
  const keys = secrets.flatMap((text, secret) =>
    keysOf(scheme, text).map((key) => ({ hmac: createHmac("sha256", key), secret })),
  );
  const parts = partsOf(scheme.signed);
  const signedHeaders = parts.flatMap((part) => (typeof part === "object" && "header" in part ? part.header : []));
  return { ...scheme, parts, signedHeaders, keys };
}

/** Reads the signatures of one scheme, or why none can be valid. */
function readScheme(
  scheme: BoundScheme,
  headers: IncomingHttpHeaders,
  nowSeconds: number,
  toleranceSeconds: number,
): Candidate | RefusalReason {
  const value = headers[scheme.header];
  if (typeof value !== "string") return "no_signature";
  const signatures = signaturesIn(scheme, value).filter((text) => isPlausible(scheme, text));
  if (signatures.length === 0) return "malformed_signature";
  if (!scheme.timestamp) return { scheme, signatures, timestamp: "" };
  const timestamp = timestampOf(scheme.timestamp, headers, value);
  if (!/^[0-9]{1,12}$/.test(timestamp)) return "timestamp_missing";
  const ageSeconds = nowSeconds - Number(timestamp);
  if (ageSeconds > toleranceSeconds) return "timestamp_too_old";
  if (ageSeconds < -toleranceSeconds) return "timestamp_in_future";
  return { scheme, signatures, timestamp };
}

/** Returns the secret that a signature was made with. All are compared, so that the time does not reveal a match. */
function secretOf({ scheme, signatures, timestamp }: Candidate, request: SignedRequest): number | undefined {
  const pieces = signedPieces(scheme, request, timestamp);
  if (pieces === null) return undefined;
  let found: number | undefined;
  for (const { hmac, secret } of scheme.keys) {
    const expected = hmac(...pieces);
    const isRight = signatures.reduce((right, signature) => isDigest(signature, expected) || right, false);
    if (isRight) found ??= secret;
  }
  return found;
}

/** A part of the signed text. */
type Part = { text: Uint8Array } | { header: string } | "body" | "timestamp";

function partsOf(signed: string): Part[] {
  const pieces = signed.split(/(\{[^}]+\})/).filter((piece) => piece !== "");
  return pieces.map((piece) => {
    if (piece === "{body}") return "body";
    if (piece === "{timestamp}") return "timestamp";
    return piece.startsWith("{header:") ? { header: piece.slice("{header:".length, -1) } : { text: Buffer.from(piece) };
  });
}

// Supabase shows the secret with its version as a prefix.
const WHSEC = /^(?:v1,)?whsec_/;
// Unused bits in the last character may be set: the libraries of the senders ignore them, too.
const BASE64 = /^[A-Za-z0-9+/]{2,}={0,2}$/;

/** Returns the key length of a `whsec_` secret: 0 if it is not base64 after that prefix, null for other secrets. */
export function bytesOfWhsec(secret: string): number | null {
  if (!WHSEC.test(secret)) return null;
  const encoded = secret.replace(WHSEC, "");
  return BASE64.test(encoded) ? Buffer.from(encoded, "base64").length : 0;
}

/** Returns the keys that a secret may mean; none if it does not fit the scheme. */
function keysOf(scheme: Scheme, secret: string): Buffer[] {
  const text = Buffer.from(secret, "utf8");
  if (scheme.key === "utf8") return [text];
  const encoded = secret.replace(WHSEC, "");
  const decoded = BASE64.test(encoded) ? [Buffer.from(encoded, "base64")] : [];
  // Some senders without the prefix, e.g. Polar, use the text itself as the key.
  return encoded === secret ? [...decoded, text] : decoded;
}

/** Returns the signatures in a header's value: one for `bare`; otherwise several while the sender rotates its secret. */
function signaturesIn(scheme: Scheme, value: string): string[] {
  switch (scheme.format) {
    case "bare":
      return [value.startsWith(scheme.label) ? value.slice(scheme.label.length) : value];
    case "pairs":
      return pairsIn(value, scheme.label);
    case "list":
      // Node joins two headers of the same name with a comma.
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

const HEX = /^[0-9a-f]+$/i;
const BASE64_DIGEST = /^[A-Za-z0-9+/]{43}=$/;

/** Whether a text has the form of a digest in an encoding of the scheme. */
function isPlausible({ encodings }: Scheme, text: string): boolean {
  if (text.length === HEX_LENGTH) return encodings.includes("hex") && HEX.test(text);
  return text.length === BASE64_LENGTH && encodings.includes("base64") && BASE64_DIGEST.test(text);
}

/** Whether a text is the digest. The encoded texts are compared: decoding ignores invalid characters and unused bits. */
function isDigest(text: string, expectedHex: string): boolean {
  if (text.length === HEX_LENGTH) return isSameHex(text.toLowerCase(), expectedHex);
  return isSameBase64(text, Buffer.from(expectedHex, "hex").toString("base64"));
}

const isSameHex = createComparison(HEX_LENGTH);
const isSameBase64 = createComparison(BASE64_LENGTH);

/** Creates a constant-time comparison with ASCII texts of a fixed length. */
function createComparison(length: number): (text: string, expected: string) => boolean {
  const [given, wanted] = [Buffer.alloc(length), Buffer.alloc(length)];
  return (text, expected) => {
    // `write` leaves out a last character that does not fit.
    const isWhole = given.write(text) === length && wanted.write(expected) === length;
    return isWhole && timingSafeEqual(given, wanted);
  };
}

function timestampOf(place: NonNullable<Scheme["timestamp"]>, headers: IncomingHttpHeaders, value: string): string {
  if ("pair" in place) return pairsIn(value, place.pair)[0] ?? "";
  const header = headers[place.header];
  return typeof header === "string" ? header : "";
}

/** Returns the pieces that the signature covers; null if a covered header is missing. */
function signedPieces(scheme: BoundScheme, { headers, body }: SignedRequest, timestamp: string): Uint8Array[] | null {
  const pieces: Uint8Array[] = [];
  for (const part of scheme.parts) {
    if (part === "body") pieces.push(body);
    else if (part === "timestamp") pieces.push(Buffer.from(timestamp));
    else if ("text" in part) pieces.push(part.text);
    else {
      const header = headers[part.header];
      if (typeof header !== "string") return null;
      // Node decodes headers as Latin-1, one character for each byte.
      pieces.push(Buffer.from(header, "latin1"));
    }
  }
  return pieces;
}
