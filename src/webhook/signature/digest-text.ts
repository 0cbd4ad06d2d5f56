import { timingSafeEqual } from "node:crypto";
import { DIGESTS } from "./hmac.ts";
import type { DigestEncoding, DigestName } from "./schemes.ts";

/**
 * Compares a text with a digest, in constant time. The encoded texts are compared: decoding ignores invalid characters
 * and unused bits.
 */
export type IsDigest = (expectedHex: string) => boolean;

/**
 * Reads texts as digests of a hash function. Returns null for a text that has no form of one. Hex may be in any case.
 */
export function createDigestReader(
  digest: DigestName,
  encodings: readonly DigestEncoding[],
): (text: string) => IsDigest | null {
  const forms = encodings.flatMap((encoding) => FORMS[encoding](DIGESTS[digest].digestBytes));
  return (text) => {
    const form = forms.find(({ form }) => form.test(text));
    if (!form) return null;
    const normalized = form.normalized(text);
    return (expectedHex) => form.isSame(normalized, form.textOf(expectedHex));
  };
}

interface DigestForm {
  form: RegExp;
  /** Hex in lower case; other texts unchanged. */
  normalized(text: string): string;
  textOf(hex: string): string;
  isSame(text: string, expected: string): boolean;
}

const unchanged = (text: string) => text;

const FORMS: Record<DigestEncoding, (bytes: number) => DigestForm[]> = {
  hex: (bytes) => [
    {
      form: new RegExp(`^[0-9a-fA-F]{${2 * bytes}}$`),
      normalized: (text) => text.toLowerCase(),
      textOf: unchanged,
      isSame: createComparison(2 * bytes),
    },
  ],
  base64: (bytes) => [base64Form(bytes, "A-Za-z0-9+/", "base64", "=".repeat(paddingOf(bytes)))],
  // Some senders keep the padding.
  base64url: (bytes) =>
    ["", "=".repeat(paddingOf(bytes))].map((padding) => base64Form(bytes, "A-Za-z0-9_-", "base64url", padding)),
};

function base64Form(bytes: number, letters: string, encoding: "base64" | "base64url", padding: string): DigestForm {
  const length = Math.ceil((bytes * 4) / 3);
  return {
    form: new RegExp(`^[${letters}]{${length}}${padding}$`),
    normalized: unchanged,
    textOf: (hex) => Buffer.from(hex, "hex").toString(encoding).slice(0, length) + padding,
    isSame: createComparison(length + padding.length),
  };
}

function paddingOf(bytes: number): number {
  return (3 - (bytes % 3)) % 3;
}

/** Creates a constant-time comparison of ASCII texts of a fixed length. */
function createComparison(length: number): (text: string, expected: string) => boolean {
  const [given, wanted] = [Buffer.alloc(length), Buffer.alloc(length)];
  return (text, expected) => {
    given.write(text, "latin1");
    wanted.write(expected, "latin1");
    return timingSafeEqual(given, wanted);
  };
}
