import words from "./common-passwords.json" with { type: "json" };
import { canonicalPassword } from "./password.ts";

// Passwords that attackers try first, in lower case. A password also matches without its final digits and symbols.
const COMMON = new Set(words.split(" "));

const SEQUENCES = [
  "01234567890123456789",
  "98765432109876543210",
  "abcdefghijklmnopqrstuvwxyz",
  "zyxwvutsrqponmlkjihgfedcba",
];
const FEWEST_CHARACTERS = 3;

/** Whether attackers try this password first: a common word, with or without an ending, or a pattern. */
export function isVeryCommon(password: string): boolean {
  const text = canonicalPassword(password).toLowerCase();
  const word = text.replace(/[\d\p{P}\p{S}]+$/u, "");
  if (COMMON.has(text) || COMMON.has(word)) return true;
  if (new Set(text).size < FEWEST_CHARACTERS) return true;
  return SEQUENCES.some((sequence) => sequence.includes(text));
}
