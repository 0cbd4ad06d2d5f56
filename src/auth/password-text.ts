/** Fewest characters of a password. */
export const PASSWORD_MIN_CHARACTERS = 6;

/** Most characters of a password. It limits the work of a hash. */
const PASSWORD_MAX_CHARACTERS = 1024;

/** Returns the form in which passwords are hashed, counted and compared: Unicode NFC. Nothing is trimmed or cut. */
export function canonicalPassword(password: string): string {
  return password.normalize("NFC");
}

// A canonical character takes at most four UTF-16 units in the text as sent.
const MAX_UNITS = 4 * PASSWORD_MAX_CHARACTERS;

// Normalization takes time with the square of a run of combining marks. No language has more than a few in a row.
const MARKS_MAX = 64;
const TOO_MANY_MARKS = new RegExp(`\\p{M}{${MARKS_MAX + 1}}`, "u");

/** Returns why a password is refused, or null. Cheap checks come before the canonical form is computed. */
export function passwordFault(password: string): string | null {
  if (!password.isWellFormed()) return "must be well-formed Unicode";
  const tooLong = `must have at most ${PASSWORD_MAX_CHARACTERS} characters`;
  if (password.length > MAX_UNITS) return tooLong;
  const tooManyMarks = `must have at most ${MARKS_MAX} combining marks in a row`;
  if (TOO_MANY_MARKS.test(password)) return tooManyMarks;
  const canonical = canonicalPassword(password);
  // NFC can turn one mark into two.
  if (TOO_MANY_MARKS.test(canonical)) return tooManyMarks;
  const count = [...canonical].length;
  if (count < PASSWORD_MIN_CHARACTERS) return `must have at least ${PASSWORD_MIN_CHARACTERS} characters`;
  return count > PASSWORD_MAX_CHARACTERS ? tooLong : null;
}

/** Counts the characters of a password in its canonical form: code points, not bytes or UTF-16 units. */
export function characterCount(password: string): number {
  return [...canonicalPassword(password)].length;
}
