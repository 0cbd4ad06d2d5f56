import { hash } from "node:crypto";
import fingerprints from "./leaked-secrets.json" with { type: "json" };

// Signing secrets of 32 bytes and more that stand in public lists, samples and tutorials: of each, the first
// 6 bytes of its SHA-256 in base64 (8 characters), sorted and joined. Shorter ones are refused by their length.
const FINGERPRINT_LENGTH = 8;

/** Tells whether a secret is publicly known. */
export function isLeakedSecret(secret: string): boolean {
  const wanted = hash("sha256", secret, "buffer").subarray(0, 6).toString("base64");
  for (let i = 0; i < fingerprints.length; i += FINGERPRINT_LENGTH) {
    if (fingerprints.startsWith(wanted, i)) return true;
  }
  return false;
}
