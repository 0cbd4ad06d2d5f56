import { bytesOfWhsec, keysOf } from "../webhook/signature/secret-key.ts";

export const SIGNING_SECRET_FORM = "expected text, or whsec_ and base64";

/**
 * The key that a secret of a handler signs with. Null if the secret begins with `whsec_` and is not base64 after it.
 */
export function signingKeyOf(secret: string): Uint8Array | null {
  const form = bytesOfWhsec(secret) === null ? "utf8" : "whsec";
  return keysOf(form, secret)[0] ?? null;
}
