import { createHash, timingSafeEqual } from "node:crypto";
import type { BoundScheme } from "./bound-scheme.ts";
import type { BasicScheme, TokenScheme } from "./schemes.ts";
import { withoutLabel } from "./signature-items.ts";
import type { Secret } from "./source.ts";

/** Prepares a scheme whose header carries the secret itself. It is compared before the body is read. */
export function bindSharedSecret(scheme: TokenScheme | BasicScheme, secrets: readonly Secret[]): BoundScheme {
  const header = scheme.type === "token" ? scheme.header : "authorization";
  const known = secrets.map((secret) => ({ secret, digest: sha256(Buffer.from(secret.value)) }));
  return {
    read(headers) {
      const value = headers[header];
      if (typeof value !== "string") return "no_signature";
      const given = scheme.type === "token" ? tokenIn(value, scheme.label) : credentialsIn(value);
      if (given === null) return "malformed_signature";
      const digest = sha256(given);
      let found: Secret | undefined;
      for (const entry of known) if (timingSafeEqual(digest, entry.digest)) found ??= entry.secret;
      if (found === undefined) return "signature_mismatch";
      const verified = { scheme, secret: found, covers: { body: false, members: [], headers: [] } };
      return () => verified;
    },
  };
}

/** Node decodes each byte of a header as one character. */
function tokenIn(value: string, label: string | undefined): Buffer | null {
  const token = withoutLabel(value, label);
  return token === "" ? null : Buffer.from(token, "latin1");
}

/** The user and password of HTTP Basic authentication (RFC 7617). */
function credentialsIn(value: string): Buffer | null {
  const encoded = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(value)?.[1];
  return encoded === undefined ? null : Buffer.from(encoded, "base64");
}

/** Digests have one length, which the comparison in constant time needs. */
function sha256(bytes: Buffer): Buffer {
  return createHash("sha256").update(bytes).digest();
}
