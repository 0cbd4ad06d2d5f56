import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { isChallenge, pkceFault } from "../../../src/auth/clients/pkce.ts";

// RFC 7636, appendix B.
const VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
const OTHER = "x".repeat(43);

suite("the verifier of PKCE", () => {
  test("fits the challenge that is its SHA-256", () => {
    assert.ok(isChallenge(CHALLENGE));
    assert.equal(pkceFault(CHALLENGE, VERIFIER), null);
  });

  test("is not needed without a challenge", () => assert.equal(pkceFault(null, undefined), null));

  for (const [what, challenge, verifier, fault] of [
    ["is missing", CHALLENGE, undefined, /is missing/],
    ["came without a challenge: it was removed on the way", null, VERIFIER, /had no code_challenge/],
    ["is another one", CHALLENGE, OTHER, /does not match/],
    ["is the challenge itself, as plain would have it", OTHER, OTHER, /does not match/],
    ["is too short", CHALLENGE, "x".repeat(42), /malformed/],
    ["is too long", CHALLENGE, "x".repeat(129), /malformed/],
    ["has another character", CHALLENGE, `${"x".repeat(43)}+`, /malformed/],
    ["has a line end", CHALLENGE, `${VERIFIER}\n`, /malformed/],
  ] as const)
    test(`is refused: it ${what}`, () => assert.match(pkceFault(challenge, verifier) ?? "", fault));

  for (const length of [43, 128])
    test(`may have ${length} characters`, () =>
      assert.match(pkceFault(CHALLENGE, "~".repeat(length)) ?? "", /does not match/));
});
