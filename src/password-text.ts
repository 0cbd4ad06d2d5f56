/** Fewest characters of a password that a login accepts. */
export const PASSWORD_MIN_CHARACTERS = 6;

/** Most characters of a password: bounds the work of a hash. */
export const PASSWORD_MAX_CHARACTERS = 1024;

/** The form in which passwords are hashed, counted and compared: Unicode NFC. Nothing is trimmed or cut. */
export function canonicalPassword(password: string): string {
  return password.normalize("NFC");
}

/** How many characters a password has in its canonical form: code points, not bytes or UTF-16 units. */
export function characterCount(password: string): number {
  return [...canonicalPassword(password)].length;
}
