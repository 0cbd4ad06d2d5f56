import { hash, randomInt } from "node:crypto";

// No character looks like another one. 16 of them have 79 bits, so that a fast digest is enough.
const CHARACTERS = "abcdefghjkmnpqrstuvwxyz23456789";
const LENGTH = 16;
const FORM = new RegExp(`^[${CHARACTERS}]{${LENGTH}}$`);

/** How many recovery codes there are at first. */
export const RECOVERY_CODES = 10;

/** Makes recovery codes, such as `abcd-efgh-jkmn-pqrs`. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: RECOVERY_CODES }, () => {
    const code = Array.from({ length: LENGTH }, () => CHARACTERS[randomInt(CHARACTERS.length)]).join("");
    return code.replaceAll(/(.{4})(?=.)/g, "$1-");
  });
}

/**
 * The digest under which a recovery code is stored. Null for a text that cannot be one. Case and hyphens do not count.
 */
export function digestOfRecoveryCode(text: string): string | null {
  const code = plainCode(text).toLowerCase();
  return FORM.test(code) ? hash("sha256", `recovery code ${code}`) : null;
}

/**
 * A code without the spaces, hyphens, dashes and invisible characters that people type or paste. Digits of full-width,
 * Arabic and Persian keyboards are 0 to 9.
 */
export const plainCode = (text: string) =>
  text
    .normalize("NFKC")
    .replaceAll(/[\s\p{Dash}\p{Cf}]+/gu, "")
    .replaceAll(/[\u0660-\u0669\u06f0-\u06f9]/g, (digit) => String(digit.charCodeAt(0) & 15));
