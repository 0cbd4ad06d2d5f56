import { createHmac, timingSafeEqual } from "node:crypto";
import { SignJWT } from "jose";
import { isObject, parseStrictJson } from "../lib/strict-json.ts";

/** The claims of an access token. Times are Unix seconds. */
export interface AccessClaims {
  sub: string;
  email: string;
  sid: string;
  /** Ours have it; one of the secret's other holders may do without. */
  iat?: number;
  exp: number;
}

const MAX_TOKEN_LENGTH = 4096;

/** Creates what signs tokens with HS256 and one secret, whose key is made once. Their header is exactly `alg` and `typ`. */
export function createSignToken(secret: string): (claims: Required<AccessClaims>) => Promise<string> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = crypto.subtle.importKey("raw", new TextEncoder().encode(secret), algorithm, false, ["sign"]);
  return async (claims) =>
    new SignJWT({ email: claims.email, sid: claims.sid })
      .setProtectedHeader({ alg: "HS256", typ: "JWT" })
      .setSubject(claims.sub)
      .setIssuedAt(claims.iat)
      .setExpirationTime(claims.exp)
      .sign(await key);
}

/**
 * Verifies a token as strictly as it is made (RFC 7515, RFC 8725) and without I/O: compact form, canonical base64url,
 * our header and our claims and nothing else, HS256 with one of the secrets, not expired, not from the future.
 * Own code, because the library accepts tokens that must be refused here (README, Endpoints), and answers through the
 * thread pool, behind the password hashes. Returns the claims, or null.
 */
export function verifyToken(token: string, secrets: readonly string[], nowSeconds: number): AccessClaims | null {
  const { hasOurHeader, claims } = readToken(token, secrets);
  return hasOurHeader && claims !== null && isCurrent(claims, nowSeconds) ? claims : null;
}

// A token that is used is used again and again. Only genuine ones get in, so nobody without a secret can fill this.
const REMEMBERED_TOKENS = 256;

/** Creates {@link verifyToken} for some secrets, remembering the tokens that they signed; the clock is always asked. */
export function createVerifyToken(
  secrets: readonly string[],
): (token: string, nowSeconds: number) => AccessClaims | null {
  const genuine = new Map<string, AccessClaims>();
  return (token, nowSeconds) => {
    const remembered = genuine.get(token);
    if (remembered) return isCurrent(remembered, nowSeconds) ? remembered : null;
    const claims = verifyToken(token, secrets, nowSeconds);
    if (claims === null) return null;
    const [oldest] = genuine.keys();
    if (genuine.size >= REMEMBERED_TOKENS && oldest !== undefined) genuine.delete(oldest);
    genuine.set(token, claims);
    return claims;
  };
}

function isCurrent({ iat, exp }: AccessClaims, nowSeconds: number): boolean {
  return (iat === undefined || iat <= nowSeconds) && exp > nowSeconds;
}

/** What a token holds, whatever the time. Header and claims are read only when one of our secrets signed them. */
export interface TokenReading {
  isWellFormed: boolean;
  /** Index of the secret that signed it; -1 when none did. */
  signedBy: number;
  hasOurHeader: boolean;
  /** Null when they are not exactly ours. */
  claims: AccessClaims | null;
}

const NOT_OURS: TokenReading = { isWellFormed: false, signedBy: -1, hasOurHeader: false, claims: null };

/** Takes a token apart, as strictly as {@link verifyToken}. */
export function readToken(token: string, secrets: readonly string[]): TokenReading {
  if (token.length > MAX_TOKEN_LENGTH) return NOT_OURS;
  const parts = token.split(".", 4);
  const [header, payload, signature] = parts;
  if (parts.length !== 3 || !header || !payload || !signature) return NOT_OURS;

  const [headerBytes, payloadBytes, given] = [header, payload, signature].map(decodeCanonical);
  if (!headerBytes || !payloadBytes || given?.length !== 32) return NOT_OURS;
  const signed = `${header}.${payload}`;
  const matches = secrets.map((secret) => timingSafeEqual(createHmac("sha256", secret).update(signed).digest(), given));
  const signedBy = matches.indexOf(true);
  if (signedBy === -1) return { ...NOT_OURS, isWellFormed: true };

  const hasOurHeader = isOurHeader(toObject(headerBytes));
  return { isWellFormed: true, signedBy, hasOurHeader, claims: toClaims(toObject(payloadBytes)) };
}

function isOurHeader(header: Record<string, unknown> | null): boolean {
  return header !== null && Object.keys(header).length === 2 && header.alg === "HS256" && header.typ === "JWT";
}

function toClaims(claims: Record<string, unknown> | null): AccessClaims | null {
  if (claims === null) return null;
  const { sub, email, sid, exp, iat, ...others } = claims;
  if (Object.keys(others).length > 0) return null;
  if (typeof sub !== "string" || typeof email !== "string" || typeof sid !== "string") return null;
  if (!isWholeNumber(exp)) return null;
  if (!("iat" in claims)) return { sub, email, sid, exp };
  return isWholeNumber(iat) ? { sub, email, sid, exp, iat } : null;
}

function isWholeNumber(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

function toObject(bytes: Buffer): Record<string, unknown> | null {
  const value = parseStrictJson(bytes);
  return value.ok && isObject(value.value) ? value.value : null;
}

/** Bytes of a base64url text without padding, other characters or stray bits; null otherwise. */
function decodeCanonical(part: string): Buffer | null {
  const bytes = Buffer.from(part, "base64url");
  return bytes.toString("base64url") === part ? bytes : null;
}
