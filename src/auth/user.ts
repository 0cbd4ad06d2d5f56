/** The one configured user. */
export interface User {
  id: string;
  email: string;
}

/** Whether claims name the configured user. A token with another e-mail is from an earlier configuration. */
export function matchesUser(claims: { sub: string; email: string }, user: User): boolean {
  return claims.sub === user.id && claims.email === user.email;
}

// HTML standard, "valid e-mail address".
const SHAPE =
  /^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/;
const MAX_LENGTH = 254;

/** Whether a text is an e-mail address as the HTML standard defines it, with at most 254 characters. */
export function isEmail(value: string): boolean {
  return value.length <= MAX_LENGTH && SHAPE.test(value);
}

/** Returns the form in which addresses are compared and counted. */
export function canonicalEmail(value: string): string {
  return value.normalize("NFC").toLowerCase();
}
