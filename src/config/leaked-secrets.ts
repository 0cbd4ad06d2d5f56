import { hash } from "node:crypto";
import fingerprints from "./leaked-secrets.json" with { type: "json" };

// Fingerprints of signing secrets from public lists, samples and tutorials: the first 6 bytes of each SHA-256 in base64
// (8 characters), sorted and joined. Secrets under 32 bytes are not listed: their length is refused anyway.
const FINGERPRINT_LENGTH = 8;

/** Whether a secret is publicly known. */
export function isLeakedSecret(secret: string): boolean {
  const wanted = hash("sha256", secret, "buffer").subarray(0, 6).toString("base64");
  for (let i = 0; i < fingerprints.length; i += FINGERPRINT_LENGTH) {
    if (fingerprints.startsWith(wanted, i)) return true;
  }
  return false;
}
