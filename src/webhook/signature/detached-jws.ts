import { objectIn, splitDetachedJws } from "../../lib/compact-jws.ts";
import { trimSpace } from "../../lib/header-value.ts";
import type { BoundScheme, SignatureSettings } from "./bound-scheme.ts";
import { algorithmIn, credentialOf, MAX_TOKEN_LENGTH } from "./jwt.ts";
import type { DetachedJwsScheme, JwtAlgorithm } from "./schemes.ts";
import { withoutScheme } from "./signature-items.ts";

/** Prepares a scheme of tokens in a header that sign the body, for the secrets or keys of a source. */
export function bindDetachedJws(scheme: DetachedJwsScheme, source: SignatureSettings): BoundScheme {
  const covers = { body: true, members: [], headers: [] };
  return {
    read(headers) {
      const value = headers[scheme.header];
      if (typeof value !== "string") return "no_signature";
      const token = openDetached(trimSpace(withoutScheme(value, scheme.label)), scheme);
      if (token === null) return "malformed_signature";
      const { header, isUnencoded, signedHeader } = token;
      return (request) => {
        const payload = scheme.payload ? scheme.payload.of(request, header) : request.content.bytes;
        if (payload === null) return "signature_mismatch";
        const signed = textOf(signedHeader, payload, isUnencoded);
        const secret = credentialOf({ ...token, signed }, source);
        return secret === undefined ? "signature_mismatch" : { scheme, secret, covers };
      };
    },
  };
}

/** The text that is signed of a header and a payload (RFC 7797, 3). */
export function textOf(signedHeader: string, payload: Buffer, isUnencoded: boolean): Buffer {
  return Buffer.concat([
    Buffer.from(`${signedHeader}.`),
    isUnencoded ? payload : Buffer.from(payload.toString("base64url")),
  ]);
}

/** A token whose header is known. */
interface OpenDetached {
  algorithm: JwtAlgorithm;
  header: Record<string, unknown>;
  signedHeader: string;
  signature: Buffer;
  isUnencoded: boolean;
}

/** Reads the header of a token. Null if it is none that the scheme accepts. */
function openDetached(text: string, scheme: DetachedJwsScheme): OpenDetached | null {
  const token = splitDetachedJws(text, MAX_TOKEN_LENGTH);
  const header = token && objectIn(token.header);
  const algorithm = algorithmIn(header, scheme.algorithms);
  if (token === null || header === null || algorithm === undefined) return null;
  const isUnencoded = isUnencodedBy(header);
  if (isUnencoded === null || (scheme.isUnencoded && !isUnencoded)) return null;
  return { ...token, header, algorithm, isUnencoded };
}

/**
 * Whether a header says that the payload is signed as it is. Null if `b64` is there and need not be understood (RFC
 * 7797, 6). Null also if anything else must be (RFC 7515, 4.1.11).
 */
function isUnencodedBy({ crit, b64 }: Record<string, unknown>): boolean | null {
  if (crit === undefined && b64 === undefined) return false;
  const isUnderstood = Array.isArray(crit) && crit.length === 1 && crit[0] === "b64";
  return isUnderstood && typeof b64 === "boolean" ? !b64 : null;
}
