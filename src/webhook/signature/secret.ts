import { hash } from "node:crypto";
import type { KeyForm } from "./schemes.ts";

/** A secret of a source. */
export interface Secret {
  /** Where it is set, e.g. `env:NAME`. This is shown and stored; the value is not. */
  name: string;
  value: string;
  /** Changes when the value does, see `markOf`. */
  mark: string;
}

/** A secret or public key without its value. */
export type Credential = Pick<Secret, "name" | "mark">;

/**
 * Returns a mark of a secret's value, which is stored beside its name. It changes when the value does. It has 16 bits
 * only: enough to notice a change, and too few to find a random value by.
 */
export function markOf(value: string): string {
  return hash("sha256", `authserve secret mark\0${value}`).slice(0, 4);
}

// Supabase shows the secret with its version as a prefix.
const WHSEC = /^(?:v1,)?whsec_/;
// Unused bits in the last character may be set: the libraries of the senders ignore them, too.
const BASE64 = /^[A-Za-z0-9+/]{2,}={0,2}$/;
const HEX = /^(?:[0-9a-f]{2})+$/i;

/** Returns the key length of a `whsec_` secret: 0 if it is not base64 after that prefix, null for other secrets. */
export function bytesOfWhsec(secret: string): number | null {
  if (!WHSEC.test(secret)) return null;
  const encoded = secret.replace(WHSEC, "");
  return BASE64.test(encoded) ? Buffer.from(encoded, "base64").length : 0;
}

/** Returns the keys that a secret may mean; none if it does not have the form. */
export function keysOf(form: KeyForm, secret: string): Buffer[] {
  switch (form) {
    case "utf8":
      return [Buffer.from(secret, "utf8")];
    case "hex":
      return HEX.test(secret) ? [Buffer.from(secret, "hex")] : [];
    case "base64":
      return BASE64.test(secret) ? [Buffer.from(secret, "base64")] : [];
    case "sha1":
      return [hash("sha1", secret, "buffer")];
    case "whsec": {
      const encoded = secret.replace(WHSEC, "");
      const decoded = BASE64.test(encoded) ? [Buffer.from(encoded, "base64")] : [];
      // Some senders without the prefix, e.g. Polar, use the text itself as the key.
      return encoded === secret ? [...decoded, Buffer.from(secret, "utf8")] : decoded;
    }
  }
}
