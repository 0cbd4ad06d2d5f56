/** Fewest characters of a password that a login accepts. */
export const PASSWORD_MIN_CHARACTERS = 6;

/** Most characters of a password: bounds the work of a hash. */
const PASSWORD_MAX_CHARACTERS = 1024;

/** The form in which passwords are hashed, counted and compared: Unicode NFC. Nothing is trimmed or cut. */
export function canonicalPassword(password: string): string {
  return password.normalize("NFC");
}

// Of a canonical form of {@link PASSWORD_MAX_CHARACTERS}, in UTF-16 units before it is made: no character has more than four.
const MAX_UNITS = 4 * PASSWORD_MAX_CHARACTERS;

// A run of marks is put in order in a time that grows with its square. No language has more than a few in a row.
const MARKS_MAX = 64;
const TOO_MANY_MARKS = new RegExp(`\\p{M}{${MARKS_MAX + 1}}`, "u");

/** Says what no login accepts of a password, else null. Looks at what is cheap before it makes the canonical form. */
export function passwordFault(password: string): string | null {
  if (!password.isWellFormed()) return "must be well-formed Unicode";
  const tooLong = `must have at most ${PASSWORD_MAX_CHARACTERS} characters`;
  if (password.length > MAX_UNITS) return tooLong;
  const tooManyMarks = `must have at most ${MARKS_MAX} combining marks in a row`;
  if (TOO_MANY_MARKS.test(password)) return tooManyMarks;
  const canonical = canonicalPassword(password);
  // One mark may have become two.
  if (TOO_MANY_MARKS.test(canonical)) return tooManyMarks;
  const count = [...canonical].length;
  if (count < PASSWORD_MIN_CHARACTERS) return `must have at least ${PASSWORD_MIN_CHARACTERS} characters`;
  return count > PASSWORD_MAX_CHARACTERS ? tooLong : null;
}

/** How many characters a password has in its canonical form: code points, not bytes or UTF-16 units. */
export function characterCount(password: string): number {
  return [...canonicalPassword(password)].length;
}
