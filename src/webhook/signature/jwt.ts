import {
  type BinaryLike,
  constants,
  createHmac,
  type KeyObject,
  type SigningOptions,
  timingSafeEqual,
  verify,
} from "node:crypto";
import { objectIn, splitJws } from "../../lib/compact-jws.ts";
import { trimSpace } from "../../lib/header-value.ts";
import { valueAt } from "../../lib/json-path.ts";
import { isInQuery } from "../content/body.ts";
import { isSha256Of } from "../content/content.ts";
import { addressesOf } from "./address-forms.ts";
import type { BoundScheme, RefusalReason, SignatureSettings, Verified } from "./bound-scheme.ts";
import type { PublicKey } from "./public-key.ts";
import { digestOf, JWT_KEY_TYPES, type JwtAlgorithm, type JwtScheme, requiredClaims, usesSecret } from "./schemes.ts";
import type { Credential } from "./secret.ts";
import type { Credentials } from "./signature-check.ts";
import { withoutScheme } from "./signature-items.ts";
import type { SignedRequest } from "./signed-text.ts";

// Plaid's have about 500 characters.
export const MAX_TOKEN_LENGTH = 8192;

// For a sender whose clock is a little ahead.
const LEEWAY_SECONDS = 5;

/** A token whose signature is right. */
interface GenuineToken {
  claims: Record<string, unknown>;
  secret: Credential;
}

/**
 * Prepares a scheme of signed tokens for the secrets or keys of a source. Node's own functions check the signature, at
 * once: `jose` would wait in the thread pool for password hashes.
 */
export function bindJwt(scheme: JwtScheme, source: SignatureSettings): BoundScheme {
  const required = requiredClaims(scheme, source.options);
  const times = {
    needsExpiry: scheme.needsExpiry,
    maxAgeSeconds: source.toleranceSeconds ?? scheme.maxAgeSeconds,
  };

  function readToken(text: string, now: number): GenuineToken | RefusalReason {
    const token = openToken(text, MAX_TOKEN_LENGTH, scheme.algorithms);
    if (token === null) return "malformed_signature";
    const secret = credentialOf(token, source);
    if (secret === undefined) return "signature_mismatch";
    const claims = objectIn(token.payload);
    if (claims === null) return "malformed_signature";
    return faultOfTimes(claims, Math.floor(now / 1000), times) ?? { claims, secret };
  }

  /**
   * Whether a claim is the digest of the body, which an empty one may lack. So may a query: a claim covers the address.
   * A body beside it is not read, so that no digest of one is right.
   */
  function isOfBody(claim: unknown, { method, content }: SignedRequest): boolean {
    if (claim !== undefined) return isSha256Of(content, claim);
    if (!scheme.isBodyOptional) return false;
    return content.bytes.length === 0 || (isInQuery(method) && scheme.requestClaims !== undefined);
  }

  function isFor(claims: Record<string, unknown>, request: SignedRequest): boolean {
    const { issuer, audience, bodyClaim, requestClaims = {} } = scheme;
    if (issuer !== undefined && claims.iss !== issuer) return false;
    if (bodyClaim !== undefined && !isOfBody(claims[bodyClaim], request)) return false;
    const addresses = addressesOf(request, source.publicOrigin);
    const urls = addresses.map(({ origin, target }) => origin + target);
    const audiences = [claims.aud].flat();
    const wanted = audience === "url" ? urls : [audience?.text];
    if (audience !== undefined && !wanted.some((one) => audiences.includes(one))) return false;
    if (!holdsClaims(claims, required, urls)) return false;
    return Object.entries(requestClaims).every(([name, textsOf]) =>
      addresses.some((address) => textsOf(address).some((text) => text === claims[name])),
    );
  }

  return {
    read(headers, now) {
      const value = headers[scheme.header];
      if (typeof value !== "string") return "no_signature";
      const token = readToken(trimSpace(withoutScheme(value, scheme.label)), now);
      if (typeof token === "string") return token;
      const { claims, secret } = token;
      const covers = { body: scheme.bodyClaim !== undefined, members: [], headers: [] };
      const verified: Verified = { scheme, secret, covers, claims };
      return (request) => (isFor(claims, request) ? verified : "signature_mismatch");
    },
  };
}

/** A token whose header is known. */
export interface OpenToken {
  algorithm: JwtAlgorithm;
  header: Record<string, unknown>;
  signed: Buffer;
  signature: Buffer;
  payload: Buffer;
}

/** Reads the header of a token. Null if it is no token with one of these algorithms. */
export function openToken(text: string, maxLength: number, algorithms: readonly JwtAlgorithm[]): OpenToken | null {
  const token = splitJws(text, maxLength);
  const header = token && objectIn(token.header);
  const algorithm = algorithmIn(header, algorithms);
  // An unknown header that must be understood (RFC 7515, 4.1.11).
  if (token === null || header === null || algorithm === undefined || "crit" in header) return null;
  return { ...token, header, algorithm, signed: Buffer.from(token.signed) };
}

/** The algorithm of a header, if it is accepted. */
export function algorithmIn(
  header: Record<string, unknown> | null,
  algorithms: readonly JwtAlgorithm[],
): JwtAlgorithm | undefined {
  return algorithms.find((accepted) => accepted === header?.alg);
}

/** What is wrong with the times of a token at a time in Unix seconds; null if nothing is. */
export function faultOfTimes(
  { exp, nbf, iat }: Record<string, unknown>,
  seconds: number,
  { needsExpiry, maxAgeSeconds: maxAge }: { needsExpiry?: true | undefined; maxAgeSeconds?: number | undefined },
): RefusalReason | null {
  if ([exp, nbf, iat].some((time) => time !== undefined && typeof time !== "number")) return "malformed_signature";
  const [end, start, made] = [exp, nbf, iat] as (number | undefined)[];
  if (end === undefined && needsExpiry) return "timestamp_missing";
  if (end !== undefined && end + LEEWAY_SECONDS <= seconds) return "timestamp_too_old";
  if ((start ?? made ?? 0) > seconds + LEEWAY_SECONDS) return "timestamp_in_future";
  if (maxAge === undefined) return null;
  if (made === undefined) return "timestamp_missing";
  return seconds - made > maxAge ? "timestamp_too_old" : null;
}

/** Whether a token has each required claim: one of its texts, or a list with one of them. */
export function holdsClaims(
  claims: Record<string, unknown>,
  required: Readonly<Record<string, readonly string[]>>,
  urls: readonly string[],
): boolean {
  // Anybody may give an account an address that is not confirmed.
  if ("email" in required && String(claims.email_verified) === "false") return false;
  return Object.entries(required).every(([name, texts]) => {
    const wanted = texts.flatMap((text) => (text === "{url}" ? urls : text));
    return [claimAt(claims, name)].flat().some((value) => isScalar(value) && wanted.includes(String(value)));
  });
}

/** The claim of this name, or else at this path. */
export function claimAt(claims: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(claims, name) ? claims[name] : valueAt(claims, name);
}

const isScalar = (value: unknown) => ["string", "number", "boolean"].includes(typeof value);

/** The secret or key that signed a token. */
export function credentialOf(
  { algorithm, header, signed, signature }: Omit<OpenToken, "payload">,
  { secrets, keys = [] }: Credentials,
): Credential | undefined {
  const digest = digestOf(algorithm);
  if (usesSecret(algorithm) && digest !== null) {
    return secrets.find(({ value }) => isMacOf(digest, value, signed, signature));
  }
  return keyFor(keys, header.kid, (key) => isSignedWith(algorithm, key, signed, signature));
}

/** Whether a signature is the HMAC of a text. */
export function isMacOf(digest: string, key: BinaryLike, signed: Buffer, signature: Buffer): boolean {
  const expected = createHmac(digest, key).update(signed).digest();
  return expected.length === signature.length && timingSafeEqual(expected, signature);
}

/** The public key that is right for a signature. A key with an id is only for signatures that name it. */
export function keyFor(
  keys: readonly PublicKey[],
  keyId: unknown,
  isRight: (key: KeyObject) => boolean,
): PublicKey | undefined {
  return keys.find((publicKey) => publicKey.keys.some(({ key, id }) => (id === null || id === keyId) && isRight(key)));
}

/** Whether a signature was made with the private key of a public one. */
export function isSignedWith(algorithm: JwtAlgorithm, key: KeyObject, signed: Buffer, signature: Buffer): boolean {
  const kind = JWT_KEY_TYPES[algorithm];
  if (kind === undefined || key.asymmetricKeyType !== kind) return false;
  if (kind === "ec" && key.asymmetricKeyDetails?.namedCurve !== CURVES[algorithm]) return false;
  return verify(digestOf(algorithm), signed, { key, ...formOf(algorithm) }, signature);
}

const CURVES: Partial<Record<JwtAlgorithm, string>> = { ES256: "prime256v1", ES384: "secp384r1", ES512: "secp521r1" };

/** How the signatures of an algorithm are written and padded (RFC 7518, 3.4 and 3.5). */
export function formOf(algorithm: JwtAlgorithm): SigningOptions {
  const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };
  return { dsaEncoding: "ieee-p1363", ...(algorithm.startsWith("PS") && pss) };
}
