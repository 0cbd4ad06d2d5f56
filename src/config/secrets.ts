import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { bytesOfWhsec, keysOf } from "../webhook/signature/secret.ts";
import fingerprints from "./leaked-secrets.json" with { type: "json" };

/** Returns why a signing secret is too weak, to follow its name in a message; null if it is not. */
export function weaknessOfTokenSecret(secret: string): string | null {
  if (Buffer.byteLength(secret) < 32) return "is shorter than 32 bytes";
  if (isLeakedSecret(secret)) return "is publicly known";
  if (new Set(secret).size < 8) return "has fewer than 8 different characters";
  if (isRepeated(secret)) return "repeats a short text";
  return null;
}

/** Whether the text is a shorter text repeated; the last repetition may be incomplete. */
function isRepeated(text: string): boolean {
  for (let unit = 1; unit <= text.length / 2; unit++) {
    let same = true;
    for (let i = unit; i < text.length && same; i++) same = text[i] === text[i - unit];
    if (same) return true;
  }
  return false;
}

/** Reads a secret from a file. Removes the line end and the byte order mark that editors and `echo` add. */
export function readSecretFile(path: string): string {
  return readFileSync(path, "utf8")
    .replace(/^\uFEFF/, "")
    .replace(/\r?\n$/, "");
}

// Fingerprints of signing secrets from public lists, samples and tutorials: the first 6 bytes of each SHA-256 in base64
// (8 characters), sorted and joined. Secrets under 32 bytes are not listed: their length is refused anyway.
const FINGERPRINT_LENGTH = 8;

/** Whether a secret is publicly known. */
function isLeakedSecret(secret: string): boolean {
  const wanted = hash("sha256", secret, "buffer").subarray(0, 6).toString("base64");
  for (let i = 0; i < fingerprints.length; i += FINGERPRINT_LENGTH) {
    if (fingerprints.startsWith(wanted, i)) return true;
  }
  return false;
}

const MIN_LENGTH = 16;
// Standard Webhooks: 24 to 64 bytes.
const MIN_WHSEC_BYTES = 24;

/** What is weak, or probably wrong, about a secret that signs requests. Each is the end of a sentence about it. */
export function weaknessesOfWebhookSecret(secret: string): string[] {
  const found: string[] = [];
  if (secret.length < MIN_LENGTH) found.push(`is shorter than ${MIN_LENGTH} characters: use a random one`);
  if (/^\s|\s$/.test(secret))
    found.push("begins or ends with white space: remove it, unless the other side's secret has it, too");
  const bytes = bytesOfWhsec(secret);
  if (bytes !== null && bytes > 0 && bytes < MIN_WHSEC_BYTES) {
    found.push(`has ${bytes} bytes after whsec_, fewer than ${MIN_WHSEC_BYTES}: use a random one`);
  }
  return found;
}

export const SIGNING_SECRET_FORM = "expected text, or whsec_ and base64";

/**
 * The key that a secret of a handler signs with. Null if the secret begins with `whsec_` and is not base64 after it.
 */
export function signingKeyOf(secret: string): Uint8Array | null {
  const form = bytesOfWhsec(secret) === null ? "utf8" : "whsec";
  return keysOf(form, secret)[0] ?? null;
}
