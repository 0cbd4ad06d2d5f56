import { createHmac, randomUUID, timingSafeEqual } from "node:crypto";
import { SignJWT } from "jose";
import { objectIn, splitJws } from "../lib/compact-jws.ts";

/** The claims of an access token. Times are Unix seconds. */
export interface AccessClaims {
  sub: string;
  email: string;
  sid: string;
  /** Always set in tokens signed here. Another program with the secret may omit it. */
  iat?: number;
  exp: number;
}

const MAX_TOKEN_LENGTH = 4096;

/** Creates a function that signs tokens with HS256. Their header is exactly `alg` and `typ`. */
export function createSignToken(secret: string): (claims: Required<AccessClaims>) => Promise<string> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = crypto.subtle.importKey("raw", new TextEncoder().encode(secret), algorithm, false, ["sign"]);
  return async (claims) => new SignJWT({ ...claims }).setProtectedHeader({ alg: "HS256", typ: "JWT" }).sign(await key);
}

/**
 * Verifies a token strictly (RFC 7515, RFC 8725) and without I/O. It must have the compact form in canonical base64url,
 * and exactly the header and claims that {@link createSignToken} writes. One of the secrets must have signed it, and
 * its times must be valid. `jose` is not used here, see docs/architecture.md. Returns the claims, or null.
 */
export function verifyToken(token: string, secrets: readonly string[], nowSeconds: number): AccessClaims | null {
  const { hasExactHeader, claims } = readToken(token, secrets);
  return hasExactHeader && claims !== null && isCurrent(claims, nowSeconds) ? claims : null;
}

// Clients send the same token many times. Only genuine tokens are cached, so nobody without a secret can fill the
// cache.
const CACHED_TOKENS = 256;

/** Creates {@link verifyToken} with a cache of genuine tokens. The times of a cached token are still checked. */
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
    if (genuine.size >= CACHED_TOKENS && oldest !== undefined) genuine.delete(oldest);
    genuine.set(token, claims);
    return claims;
  };
}

// Servers that share sessions read a clock that differs by milliseconds. A token of one must not come from the others'
// future.
const CLOCK_SLACK_SECONDS = 0.5;

function isCurrent({ iat, exp }: AccessClaims, nowSeconds: number): boolean {
  return (iat === undefined || iat <= nowSeconds + CLOCK_SLACK_SECONDS) && exp > nowSeconds;
}

/** The parts of a token, without regard to time. Header and claims are read only if the signature is valid. */
interface TokenReading {
  isWellFormed: boolean;
  /** Index of the secret that signed it; -1 when none did. */
  signedBy: number;
  hasExactHeader: boolean;
  /** Null when a claim is missing, unknown or of a wrong type. */
  claims: AccessClaims | null;
}

const MALFORMED: TokenReading = { isWellFormed: false, signedBy: -1, hasExactHeader: false, claims: null };

/** Reads the parts of a token. */
export function readToken(token: string, secrets: readonly string[]): TokenReading {
  const parts = splitJws(token, MAX_TOKEN_LENGTH);
  if (parts === null || parts.signature.length !== 32) return MALFORMED;
  const { signed, header, payload, signature: given } = parts;
  const matches = secrets.map((secret) => timingSafeEqual(createHmac("sha256", secret).update(signed).digest(), given));
  const signedBy = matches.indexOf(true);
  if (signedBy === -1) return { ...MALFORMED, isWellFormed: true };

  const hasExactHeader = isExactHeader(objectIn(header));
  return { isWellFormed: true, signedBy, hasExactHeader, claims: toClaims(objectIn(payload)) };
}

function isExactHeader(header: Record<string, unknown> | null): boolean {
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

/** How a user logs in: with the API, or with the form of the login page, which may keep the login. */
export type LoginWay = "api" | "form" | "kept";

const FORM_PREFIX = "form-";

/**
 * Creates the id of a session. It says whether a form opened the session, and it is in the store and in the signed
 * token.
 */
export function createSessionId(way: LoginWay): string {
  return way === "api" ? randomUUID() : FORM_PREFIX + randomUUID();
}

/** Whether a form opened the session. */
export const isOfForm = (sid: string) => sid.startsWith(FORM_PREFIX);
