import { hash, timingSafeEqual } from "node:crypto";

/** Whether a text is an S256 challenge: a SHA-256 in base64url (RFC 7636, 4.2). */
export const isChallenge = (text: string) => /^[A-Za-z0-9_-]{43}$/.test(text);

const isVerifier = (text: string) => /^[A-Za-z0-9._~-]{43,128}$/.test(text);

/**
 * Why the verifier of a token request does not fit the challenge of its authorization request, in one sentence for the
 * `error_description` of `invalid_grant`. Null: it fits, or neither was sent.
 */
export function pkceFault(challenge: string | null, verifier: string | undefined): string | null {
  // RFC 9700, 2.1.1: otherwise a challenge can be removed from the authorization request unnoticed.
  if (challenge === null)
    return verifier === undefined
      ? null
      : "code_verifier was sent, but the authorization request had no code_challenge";
  if (verifier === undefined) return "code_verifier is missing: the authorization request had a code_challenge";
  if (!isVerifier(verifier)) return "code_verifier is malformed: expected 43 to 128 unreserved characters";
  const given = Buffer.from(hash("sha256", verifier, "base64url"));
  const expected = Buffer.from(challenge);
  const fits = given.length === expected.length && timingSafeEqual(given, expected);
  return fits ? null : "code_verifier does not match the code_challenge";
}
