// HTML standard, "valid e-mail address".
const SHAPE =
  /^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/;
const MAX_LENGTH = 254;

/** Tells whether a text is an e-mail address by the HTML standard's definition and at most 254 characters. */
export function isEmail(value: string): boolean {
  return value.length <= MAX_LENGTH && SHAPE.test(value);
}

/** The form in which addresses are compared and counted. */
export function canonicalEmail(value: string): string {
  return value.normalize("NFC").toLowerCase();
}
