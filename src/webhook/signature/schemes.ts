import type { OwnFormat, OwnPart, SignedRequest } from "./signed-text.ts";

/** How a sender proves that a delivery is genuine, as data. What only one provider does is a function in its file. */
export type Scheme =
  | SignedScheme
  | JwtScheme
  | JwsScheme
  | DetachedJwsScheme
  | HttpSignatureScheme
  | TokenScheme
  | BasicScheme;

/** A signature of a text that the receiver puts together from the delivery. */
export type SignedScheme = HmacScheme | PublicKeyScheme;

/**
 * Where a signature is, and what it covers. `signed` is that text, with placeholders:
 *
 * - `{body}`: the raw bytes; `{body-sha256}`: their SHA-256, as bytes, and `{body-md5-base64}`: their MD5 in base64
 * - `{timestamp}`: the timestamp as sent; `{method}`: the method
 * - `{url}`: the whole address; `{path}`: its path with the query
 * - `{header:NAME}`: a request header; `{query:NAME}`: a parameter of the query
 * - `{form:NAME}`: a field of a form; `{json:PATH}`: a member of a JSON body
 * - `{pair:NAME}`: an item of the signature header; `{option:NAME}`: an option of the source
 * - `{own:NAME}`: one of `parts`
 */
interface SignatureLayout<Encoding extends DigestEncoding> {
  /**
   * Where the signature is: headers in lower case, each of which may carry it, or one place in the body. With `each`,
   * there is one in each item of that list, for paths that begin at the item, and all must be valid.
   */
  signature: { headers: readonly string[] } | { json: string; each?: string } | { form: string };
  /**
   * `bare`: one signature. `pairs`: `key=value` items. `list`: `version,signature` items. `values`: several signatures.
   * Or a form that one provider has.
   */
  format: "bare" | "pairs" | "list" | "values" | OwnFormat;
  /**
   * `bare` and `values`: may precede the first signature. `pairs` and `list`: the key or version of a signature;
   * without it, every pair is one.
   */
  label?: string;
  /** The separator of the items: a comma or semicolon by default; a blank for `list`. */
  separator?: string;
  /** The separator of a key and its value in a pair: "=" by default. */
  assignment?: string;
  encodings: readonly Encoding[];
  signed: string;
  /** The parts of `signed` that one provider has, by name. */
  parts?: Readonly<Record<string, OwnPart>>;
  /**
   * Which deliveries are signed so: those of a media type, without a parameter in the query, or with one of these
   * values in a member of the body.
   */
  only?: { mediaType: string; withoutQuery?: string } | { member: string; values: readonly string[] };
  /** A member of the body that must be an option of the source, if that is set. */
  bound?: { member: string; option: string };
  /** Deliveries with the same signed text are one event, whatever else differs. Otherwise their bytes decide. */
  isIdentity?: true;
  /** How else the sender may write the address that it signs. */
  addressForms?: readonly AddressForm[];
  /**
   * The last parameter of the query, which has the SHA-256 of the body in hex. The signature covers the body through
   * it.
   */
  bodyHash?: { query: string };
  /**
   * Absent if no time is signed. A pair is an item of the signature header, and `own` what the scheme's own format
   * finds there; a member is in a body that also has the signature. The default unit is seconds.
   */
  timestamp?: ({ header: string } | { pair: string } | { own: true } | { json: string }) & { unit?: TimeUnit };
  /** 300 by default. */
  toleranceSeconds?: number;
}

/** An HMAC with a secret. */
export interface HmacScheme extends SignatureLayout<DigestEncoding> {
  type: "hmac";
  algorithm: DigestName;
  key: KeyForm;
  /** Not an HMAC, but the hash of the key and the text behind it. */
  isPrefixHash?: true;
}

/** A signature with a private key, which the sender's public key verifies. */
export interface PublicKeyScheme extends SignatureLayout<BytesEncoding> {
  /** `ecdsa`: in DER, or both numbers one after the other. `rsa`: with PKCS #1 v1.5 padding. */
  type: "ed25519" | "ecdsa" | "rsa";
  /** The hash of the text. Ed25519 has its own. */
  algorithm: DigestName;
}

/** A signed JSON Web Token in a header. `exp`, `nbf` and `iat` are checked if they are there. */
export interface JwtScheme {
  type: "jwt";
  /** In lower case. */
  header: string;
  /** May precede the token. */
  label?: string;
  /** Accepted algorithms: either those with secrets, or those with public keys. */
  algorithms: readonly JwtAlgorithm[];
  issuer?: string;
  /** What `aud` must be or hold: a text, or the address of the delivery. */
  audience?: { text: string } | "url";
  /**
   * What further claims must be or hold: one of these texts. `{option:NAME}` is an option of the source,
   * `{options:NAME}` each word of one, and `{url}` the address of the delivery.
   */
  claims?: Readonly<Record<string, readonly string[]>>;
  /** The claim with the SHA-256 of the body. Without it, the body is not covered. */
  bodyClaim?: string;
  /** How the sender writes that digest: in hex by default. Either is accepted. */
  bodyEncoding?: "base64";
  /** Whether `bodyClaim` is left out without a body. One of `requestClaims` must then cover the query. */
  isBodyOptional?: true;
  /**
   * Claims about the request that one provider has: the texts that each may be, the one first that a sender writes.
   * They are asked for each address that the request may have been sent to.
   */
  requestClaims?: Readonly<Record<string, (request: RequestLine) => readonly string[]>>;
  /** Whether `exp` must be there. */
  needsExpiry?: true;
  /** The oldest age of `iat`, which must then be there. */
  maxAgeSeconds?: number;
}

/**
 * A signed token in the body. The source has its key, or the root of the certificates that are in the header of the
 * token.
 */
export interface JwsScheme {
  type: "jws";
  /** The member of the body that is the token. Without it, the whole body is. */
  json?: string;
  /** Whether the source has the key itself. */
  isKeyed?: true;
  /** Accepted algorithms, those with public keys. */
  algorithms: readonly JwtAlgorithm[];
  /** As in `JwtScheme`, also by paths. */
  claims?: Readonly<Record<string, readonly string[]>>;
  /** Identifiers of extensions: the first certificate must have the first, its issuer the second. */
  extensions?: readonly string[];
  /** The claims as one provider means them; null if some are missing. */
  readClaims?(claims: Readonly<Record<string, unknown>>): Record<string, unknown> | null;
  /** Paths of claims, the first of which that is there must be an option of the source, if that is set. */
  bound?: { claims: readonly string[]; option: string };
}

/** A signed token in a header whose payload is the body (RFC 7515, appendix F; RFC 7797). */
export interface DetachedJwsScheme {
  type: "detached-jws";
  /** In lower case. */
  header: string;
  /** May precede the token. */
  label?: string;
  /** Accepted algorithms: either those with secrets, or those with public keys. */
  algorithms: readonly JwtAlgorithm[];
  /** Whether the body must be signed as it is, with `b64: false`. Otherwise a token of any use could be taken apart. */
  isUnencoded?: true;
  /** What one provider signs: the body and what is before it. */
  payload?: {
    /** Null if the delivery lacks a part. `header` is that of the token. */
    of(request: SignedRequest, header: Readonly<Record<string, unknown>>): Buffer | null;
    /** What the sender adds to the header. */
    header: Readonly<Record<string, unknown>>;
  };
}

/** A signature of parts of the request (RFC 9421), or one of the draft before (draft-cavage-http-signatures). */
export interface HttpSignatureScheme {
  type: "httpsig";
  /** Those of `HTTP_NAMES`: either the one with secrets, or those with public keys. */
  algorithms: readonly JwtAlgorithm[];
  /** How a secret becomes a key. */
  key: KeyForm;
  /** The header of a signature of the draft, in lower case. */
  draft?: string;
  /** Whether a signature may leave the body out. */
  isBodyOptional?: true;
}

/** The names of algorithms in RFC 9421, 3.3. */
export const HTTP_NAMES = {
  HS256: "hmac-sha256",
  RS256: "rsa-v1_5-sha256",
  PS512: "rsa-pss-sha512",
  ES256: "ecdsa-p256-sha256",
  ES384: "ecdsa-p384-sha384",
  EdDSA: "ed25519",
} as const satisfies Partial<Record<JwtAlgorithm, string>>;

/** What a token may cover of a request besides the body. */
export type RequestLine = Pick<SignedRequest, "method" | "origin" | "target">;

/** Algorithms of signed tokens (RFC 7518). */
export type JwtAlgorithm = (typeof JWT_ALGORITHMS)[number];

export const JWT_ALGORITHMS = [
  "HS256",
  "HS384",
  "HS512",
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
] as const;

/**
 * `port`: with and without the port. `credentials`: with the user and password that the request was sent with.
 * `decoded`: with readable signs. The others: the query, or all of it, encoded anew.
 */
export type AddressForm = "port" | "credentials" | "decoded" | "query-encoded" | "normalized";

/** The secret itself: in a header, in the address, or in a member of the body. */
export type TokenScheme = { type: "token" } & (
  | {
      /** In lower case. */
      header: string;
      /** May precede the secret. */
      label?: string;
    }
  /** A parameter of the query. */
  | { query: string }
  /** The last segment of the path, behind the path of the source. */
  | { path: true }
  /** With `each`, in each item of that list. */
  | { json: string; each?: string }
);

/** HTTP Basic authentication (RFC 7617). The secret is `user:password`. */
export interface BasicScheme {
  type: "basic";
}

/** The hash functions that senders sign with. */
export type DigestName = "md5" | "sha1" | "sha256" | "sha512";

export type BytesEncoding = "hex" | "base64" | "base64url";

/** `base64-hex` is the base64 of the digest in hex, as `base64_encode(hash_hmac(…))` of PHP writes it. */
export type DigestEncoding = BytesEncoding | "base64-hex";

/** `http` is the form of the header `Date`, e.g. `Thu, 04 Jan 2024 18:05:25 GMT`. */
export type TimeUnit = "s" | "ms" | "iso" | "http";

/**
 * How a secret becomes a key. `whsec`: base64 after `whsec_`; without that prefix, base64 or the text itself. `sha1`:
 * the SHA-1 of the text.
 */
export type KeyForm = "utf8" | "hex" | "base64" | "whsec" | "sha1";

/**
 * A place in a delivery: a header, a member of the body, or a claim of the token that signs it. The path of a member
 * has dots between the names. A number in it counts in an array.
 */
export type Place = `header:${string}` | `body:${string}` | `claim:${string}`;

/** Where an id is: at a place, or composed of what is at several, all of which must be there. */
export type IdPlace = Place | readonly Place[];

/** The tolerance that most senders recommend. */
export const DEFAULT_TOLERANCE_SECONDS = 300;

/**
 * Whether a request without credentials gets 401: some senders of Basic authentication send them only then (RFC 7617,
 * 2).
 */
export function asksForCredentials(schemes: readonly Scheme[]): boolean {
  return schemes.some(({ type }) => type === "basic");
}

/** Whether a scheme needs secrets of the source, or public keys of the sender. */
export function needsOf(scheme: Scheme): "secrets" | "keys" {
  if ("algorithms" in scheme) return scheme.algorithms.some(usesSecret) ? "secrets" : "keys";
  return scheme.type === "hmac" || scheme.type === "token" || scheme.type === "basic" ? "secrets" : "keys";
}

/** The texts of each claim that a scheme requires, with the options of a source. */
export function requiredClaims(
  { claims = {} }: Pick<JwtScheme, "claims">,
  options: Readonly<Record<string, string>> = {},
): Record<string, string[]> {
  const textsOf = (text: string) => {
    const [, kind, name = ""] = /^\{(options?):(.+)\}$/.exec(text) ?? [];
    if (kind === undefined) return text;
    const option = options[name];
    if (option === undefined) return [];
    return kind === "options" ? option.split(" ").filter((word) => word !== "") : option;
  };
  return Object.fromEntries(Object.entries(claims).map(([name, texts]) => [name, texts.flatMap(textsOf)]));
}

export function usesSecret(algorithm: JwtAlgorithm): boolean {
  return algorithm.startsWith("HS");
}

/** The hash function of an algorithm, as Node names it. EdDSA has its own, for which Node takes null. */
export function digestOf(algorithm: JwtAlgorithm): string | null {
  return algorithm === "EdDSA" ? null : `sha${algorithm.slice(2)}`;
}

/** The types of public keys that a scheme verifies with, as `KeyObject` names them; none if it needs secrets. */
export function keyTypesOf(scheme: Scheme): string[] {
  // Its certificates have the keys.
  if (scheme.type === "jws" && !scheme.isKeyed) return [];
  if ("algorithms" in scheme) return scheme.algorithms.flatMap((algorithm) => JWT_KEY_TYPES[algorithm] ?? []);
  switch (scheme.type) {
    case "ecdsa":
      return ["ec"];
    case "ed25519":
    case "rsa":
      return [scheme.type];
    default:
      return [];
  }
}

export const JWT_KEY_TYPES: Partial<Record<JwtAlgorithm, string>> = {
  RS256: "rsa",
  RS384: "rsa",
  RS512: "rsa",
  PS256: "rsa",
  PS384: "rsa",
  PS512: "rsa",
  ES256: "ec",
  ES384: "ec",
  ES512: "ec",
  EdDSA: "ed25519",
};

/** Whether a scheme is a signature of a text. */
export function isSigned(scheme: Scheme): scheme is SignedScheme {
  return "signature" in scheme;
}

/** Whether the secret is in the path of deliveries, behind the path of their source. */
export function isInPath(scheme: Scheme): boolean {
  return scheme.type === "token" && "path" in scheme;
}

/** Whether the secret is in the address of deliveries. */
export function isInAddress(scheme: Scheme): boolean {
  return isInPath(scheme) || (scheme.type === "token" && "query" in scheme);
}

/** Whether a field of the query has the secret. */
export function isSecretField(schemes: readonly Scheme[], field: string): boolean {
  const parsed = new URLSearchParams(field);
  return schemes.some((scheme) => scheme.type === "token" && "query" in scheme && parsed.has(scheme.query));
}

/** The headers in which a scheme looks for signatures, tokens and credentials. */
export function headersOf(scheme: Scheme): readonly string[] {
  switch (scheme.type) {
    case "basic":
      return ["authorization"];
    case "token":
      return "header" in scheme ? [scheme.header] : [];
    case "jwt":
    case "detached-jws":
      return [scheme.header];
    case "jws":
      return [];
    case "httpsig":
      return scheme.draft === undefined ? ["signature", "signature-input"] : [scheme.draft];
    default:
      return "headers" in scheme.signature ? scheme.signature.headers : [];
  }
}
