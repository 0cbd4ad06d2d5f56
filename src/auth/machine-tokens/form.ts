import { hash, randomInt } from "node:crypto";
import { crc32 } from "node:zlib";

const PREFIX = "ask_";
const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_LENGTH = 30;
const CHECK_LENGTH = 6;
const FORM = new RegExp(`^${PREFIX}[0-9A-Za-z]{${RANDOM_LENGTH + CHECK_LENGTH}}$`);

/** Makes a new token: a prefix that scanners for leaked secrets find, random characters, and a checksum of both. */
export function newToken(): string {
  const random = Array.from({ length: RANDOM_LENGTH }, () => DIGITS[randomInt(DIGITS.length)]);
  const checked = `${PREFIX}${random.join("")}`;
  return checked + checkOf(checked);
}

/** Whether a text has the form of a token and its checksum. A typing error costs no look-up. */
export function isWellFormed(text: string): boolean {
  return FORM.test(text) && checkOf(text.slice(0, -CHECK_LENGTH)) === text.slice(-CHECK_LENGTH);
}

/** The CRC-32 of a text in base62, the most significant digit first. */
function checkOf(text: string): string {
  let rest = crc32(text);
  let check = "";
  for (let place = 0; place < CHECK_LENGTH; place++) {
    check = DIGITS[rest % DIGITS.length] + check;
    rest = Math.floor(rest / DIGITS.length);
  }
  return check;
}

/** The digest under which a token is stored: SHA-256 in hexadecimal. It is random enough to need no salt. */
export function digestOf(token: string): string {
  return hash("sha256", token);
}

const BEARER = new RegExp(`^bearer[ \\t]+(${PREFIX}.*)$`, "i");

/** The tokens in the values of `Authorization` headers. Whatever begins with the prefix is one, also a wrong one. */
export function tokensIn(authorization: readonly string[]): string[] {
  return authorization.flatMap((value) => BEARER.exec(value)?.[1] ?? []);
}

const BASIC = /^basic[ \t]+([A-Za-z0-9+/]+={0,2})$/i;

/** The tokens that are passwords of Basic (RFC 7617), with any user name: for programs that know nothing else. */
export function basicTokensIn(authorization: readonly string[]): string[] {
  return authorization.flatMap((value) => {
    const encoded = BASIC.exec(value)?.[1];
    if (encoded === undefined) return [];
    const pair = Buffer.from(encoded, "base64").toString("latin1");
    const password = pair.slice(pair.indexOf(":") + 1);
    return pair.includes(":") && password.startsWith(PREFIX) ? [password] : [];
  });
}
