import { createHmac } from "node:crypto";
import { JWT_SECRET, WEBHOOK_SECRET } from "./credentials.ts";

/** The value of `X-Signature` for a body. */
export function signature(body: string | Uint8Array, secret = WEBHOOK_SECRET): string {
  return `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
}

/** A well-formed but wrong signature. The body of a delivery with it is read. */
export const PLAUSIBLE = "0".repeat(64);

interface Forgery {
  secret?: string | Uint8Array;
  hash?: "sha256" | "sha384" | "sha512";
  /** Replaces the HMAC, as text in the token. */
  signature?: string;
}

/** A value as JSON; text and bytes unchanged. */
type Part = object | string | Uint8Array;

export const HEADER = { alg: "HS256", typ: "JWT" };

/** Makes a token with any header and payload. Its HMAC is correct unless the forgery replaces it. */
export function forge(header: Part, payload: Part, forgery: Forgery = {}): string {
  const { secret = JWT_SECRET, hash = "sha256" } = forgery;
  const signed = `${encode(header)}.${encode(payload)}`;
  const mac = forgery.signature ?? createHmac(hash, secret).update(signed).digest("base64url");
  return `${signed}.${mac}`;
}

export function encode(part: Part): string {
  const isRaw = typeof part === "string" || part instanceof Uint8Array;
  return Buffer.from(isRaw ? part : JSON.stringify(part)).toString("base64url");
}

export interface Claims {
  sub: string;
  email: string;
  sid: string;
  iat: number;
  exp: number;
}

/** The claims of a token, unverified. */
export function claimsOf(token: string): Claims {
  return JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8")) as Claims;
}
