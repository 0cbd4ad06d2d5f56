import { bytesOfWhsec } from "../webhook/signature/secret-key.ts";

const LEAST_LENGTH = 16;
// Standard Webhooks: 24 to 64 bytes.
const LEAST_WHSEC_BYTES = 24;

/** What is weak, or probably wrong, about a secret that signs requests. Each is the end of a sentence about it. */
export function weaknessesOf(secret: string): string[] {
  const found: string[] = [];
  if (secret.length < LEAST_LENGTH) found.push(`is shorter than ${LEAST_LENGTH} characters: use a random one`);
  if (/^\s|\s$/.test(secret))
    found.push("begins or ends with white space: remove it, unless the other side's secret has it, too");
  const bytes = bytesOfWhsec(secret);
  if (bytes !== null && bytes > 0 && bytes < LEAST_WHSEC_BYTES) {
    found.push(`has ${bytes} bytes after whsec_, fewer than ${LEAST_WHSEC_BYTES}: use a random one`);
  }
  return found;
}
