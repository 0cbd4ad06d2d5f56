import { AppError } from "../../errors.ts";

/** The answer to a handshake. A text is sent unchanged, any other body as JSON. */
export interface Answer {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
}

/** An answer in plain text. */
export function text(body: string, status = 200): Answer {
  return { status, body, headers: { "Content-Type": "text/plain" } };
}

/** An answer in JSON. */
export function json(body: object): Answer {
  return { status: 200, body };
}

// Base64, base64url, numbers and UUIDs. A challenge of this form is never a signed body, which begins with `{`, `[` or
// `v0:`.
const CHALLENGE = /^[A-Za-z0-9+/=_-]{1,256}$/;

// For challenges that are sentences, as those of Microsoft Graph and Okta may be. Nothing is signed there.
export const PRINTABLE = /^[\x20-\x7e]{1,1024}$/;

/** What Braintree signs for anybody who asks. So it is no payload of a delivery. */
export const BRAINTREE_CHALLENGE = /^[a-f0-9]{20,32}$/;

/**
 * Returns a challenge, which is at `path` of the request. Throws `validation_failed`, or `invalid_payload` for one in a
 * delivery, if it does not have the form.
 */
export function requireChallenge(
  value: unknown,
  path: string,
  {
    code = "validation_failed",
    form = CHALLENGE,
  }: { code?: "validation_failed" | "invalid_payload"; form?: RegExp } = {},
): string {
  if (typeof value === "string" && form.test(value)) return value;
  throw new AppError(code, { errors: [{ path, message: "must be a challenge" }] });
}
