import { readFileSync } from "node:fs";
import { isLeakedSecret } from "./leaked-secrets.ts";

/** Returns why a signing secret is too weak, to follow its name in a message; null if it is not. */
export function weaknessOf(secret: string): string | null {
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
