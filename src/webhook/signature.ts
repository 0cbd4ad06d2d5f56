import { timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { createHmac, type Hmac } from "./hmac.ts";
import type { Scheme } from "./schemes.ts";
import type { Source } from "./source.ts";

const HEX_LENGTH = 64;
const BASE64_LENGTH = 44;

/** A delivery, with all that a signature may cover. */
export interface SignedRequest {
  method: string;
  /** The request target as it was sent. */
  url: string;
  headers: IncomingHttpHeaders;
  body: Uint8Array;
}

/** Why a delivery is not genuine, for whoever reads the log; the sender is never told. */
export type RefusalReason =
  | "no_signature"
  | "malformed_signature"
  | "timestamp_missing"
  | "timestamp_too_old"
  | "timestamp_in_future"
  | "signature_mismatch";

/** What proves that a delivery is genuine. */
export interface Verified {
  scheme: Scheme;
  /** Which of the source's secrets it was signed with. */
  secret: number;
  /** The headers that are signed beside the body, in lower case. */
  signedHeaders: readonly string[];
}

/** The signatures of a delivery that may be genuine, or why none is. */
export type ReadSignatures = { candidates: readonly Candidate[] } | { reason: RefusalReason };

/** What one scheme finds in the headers of a delivery. */
interface Candidate {
  scheme: BoundScheme;
  signatures: readonly string[];
  timestamp: string;
}

/** The schemes of a source, bound to its secrets. */
export interface Verifier {
  /** Looks at the headers alone, before the body is read. */
  read(headers: IncomingHttpHeaders, nowSeconds: number): ReadSignatures;
  /** Whether one of the signatures that were read is that of the whole request; null when none is. */
  verify(request: SignedRequest, candidates: readonly Candidate[]): Verified | null;
}

/** Binds the schemes of a source to its secrets: a delivery is genuine when any scheme accepts it. Never throws. */
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
  /** For each key that a secret may stand for. */
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

/** What a scheme finds in the headers, or why it finds nothing that could be genuine. */
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

/** Which secret one of the signatures was made with. Each signature is compared, whether one before it was right or not. */
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

/** A piece of the signed text. */
type Part = { text: Uint8Array } | { header: string } | "body" | "timestamp";

function partsOf(signed: string): Part[] {
  const pieces = signed.split(/(\{[^}]+\})/).filter((piece) => piece !== "");
  return pieces.map((piece) => {
    if (piece === "{body}") return "body";
    if (piece === "{timestamp}") return "timestamp";
    return piece.startsWith("{header:") ? { header: piece.slice("{header:".length, -1) } : { text: Buffer.from(piece) };
  });
}

// Supabase shows the secret with its version in front.
const WHSEC = /^(?:v1,)?whsec_/;
// Bits to spare in the last character are passed over, as by the senders' own libraries.
const BASE64 = /^[A-Za-z0-9+/]{2,}={0,2}$/;

/** How long the key of a Standard Webhooks secret is: null of any other secret, 0 when it is not base64 behind its beginning. */
export function bytesOfWhsec(secret: string): number | null {
  if (!WHSEC.test(secret)) return null;
  const encoded = secret.replace(WHSEC, "");
  return BASE64.test(encoded) ? Buffer.from(encoded, "base64").length : 0;
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

const HEX = /^[0-9a-f]+$/i;
const BASE64_DIGEST = /^[A-Za-z0-9+/]{43}=$/;

/** Whether a text may be a digest in an encoding of the scheme. */
function isPlausible({ encodings }: Scheme, text: string): boolean {
  if (text.length === HEX_LENGTH) return encodings.includes("hex") && HEX.test(text);
  return text.length === BASE64_LENGTH && encodings.includes("base64") && BASE64_DIGEST.test(text);
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

function timestampOf(place: NonNullable<Scheme["timestamp"]>, headers: IncomingHttpHeaders, value: string): string {
  if ("pair" in place) return pairsIn(value, place.pair)[0] ?? "";
  const header = headers[place.header];
  return typeof header === "string" ? header : "";
}

/** The pieces that the signature covers; null when a header among them is missing. */
function signedPieces(scheme: BoundScheme, { headers, body }: SignedRequest, timestamp: string): Uint8Array[] | null {
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
  return pieces;
}
