import { isObject, parseStrictJson } from "./json.ts";

/** The parts of a signed token in the compact form (RFC 7515). Nothing of it is verified. */
interface CompactJws {
  /** The text that the signature covers. */
  signed: string;
  header: Buffer;
  payload: Buffer;
  signature: Buffer;
}

/**
 * Splits a token. Returns null if it does not have the form, is longer than `maxLength`, or is not canonical base64url.
 */
export function splitJws(token: string, maxLength: number): CompactJws | null {
  if (token.length > maxLength) return null;
  const parts = token.split(".", 4);
  const [header, payload, signature] = parts.map(decodeCanonical);
  if (parts.length !== 3 || !header || !payload || !signature) return null;
  return { signed: `${parts[0]}.${parts[1]}`, header, payload, signature };
}

/** A signed token without its payload, which is elsewhere (RFC 7515, appendix F). Nothing of it is verified. */
interface DetachedJws {
  /** The header as it is signed. */
  signedHeader: string;
  header: Buffer;
  signature: Buffer;
}

/** Splits a token without a payload. Returns null where `splitJws` does, and for one with a payload. */
export function splitDetachedJws(token: string, maxLength: number): DetachedJws | null {
  if (token.length > maxLength) return null;
  const [signedHeader = "", payload, last = "", ...more] = token.split(".", 4);
  const [header, signature] = [signedHeader, last].map(decodeCanonical);
  if (payload !== "" || more.length > 0 || !header || !signature) return null;
  return { signedHeader, header, signature };
}

/** Reads a part of a token as an object of strict JSON; null for anything else. */
export function objectIn(part: Buffer): Record<string, unknown> | null {
  const parsed = parseStrictJson(part);
  return parsed.ok && isObject(parsed.value) ? parsed.value : null;
}

/** Decodes base64url. Returns null for an empty text, padding, other characters or unused bits that are not zero. */
function decodeCanonical(part: string): Buffer | null {
  const bytes = Buffer.from(part, "base64url");
  return part !== "" && bytes.toString("base64url") === part ? bytes : null;
}
