import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { isTotpSecret, loadTotp } from "../../../src/auth/factors/totp.ts";

/** RFC 6238, appendix B: the secret `12345678901234567890`, and the last six digits of the codes with SHA-1. */
const SECRET = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
const VECTORS: readonly (readonly [seconds: number, code: string])[] = [
  [59, "287082"],
  [1_111_111_109, "081804"],
  [1_111_111_111, "050471"],
  [1_234_567_890, "005924"],
  [2_000_000_000, "279037"],
  [20_000_000_000, "353130"],
];
const STEP_MS = 30_000;

suite("TOTP", () => {
  test("accepts the codes of RFC 6238, each for its step", async () => {
    const { stepOf } = await loadTotp();
    for (const [seconds, code] of VECTORS)
      assert.equal(stepOf(SECRET, code, seconds * 1000), Math.floor(seconds / 30), code);
  });

  test("accepts a code one step early and one step late, to the millisecond, and no longer", async () => {
    const { stepOf } = await loadTotp();
    const begins = 37_037_036 * STEP_MS;
    const code = "081804";
    assert.equal(stepOf(SECRET, code, begins - STEP_MS), 37_037_036);
    assert.equal(stepOf(SECRET, code, begins - STEP_MS - 1), null);
    assert.equal(stepOf(SECRET, code, begins + 2 * STEP_MS - 1), 37_037_036);
    assert.equal(stepOf(SECRET, code, begins + 2 * STEP_MS), null);
  });

  test("makes secrets of 160 bits, and a URI that apps read", async () => {
    const { newSecret, uriOf, stepOf } = await loadTotp();
    const secret = newSecret();
    assert.ok(isTotpSecret(secret));
    assert.notEqual(newSecret(), secret);
    assert.equal(stepOf(secret, "000000", 0) ?? 0, 0);
    const uri = new URL(uriOf(secret, "auth.example.com", "user+home@example.com"));
    assert.equal(uri.href.split("?")[0], "otpauth://totp/auth.example.com:user%2Bhome%40example.com");
    assert.deepEqual([uri.searchParams.get("secret"), uri.searchParams.get("issuer")], [secret, "auth.example.com"]);
    const ofAddress = new URL(uriOf(secret, "[2001:db8::1]", '"a:b"@example.com'));
    assert.equal(ofAddress.searchParams.get("issuer"), "[2001.db8..1]");
    assert.equal(decodeURIComponent(ofAddress.pathname).match(/:/g)?.length, 1);
  });
});
