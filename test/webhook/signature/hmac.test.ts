import assert from "node:assert/strict";
import { createHmac as nodeHmac, randomBytes } from "node:crypto";
import { suite, test } from "node:test";
import { createHmac } from "../../../src/webhook/signature/hmac.ts";

// RFC 4231, sections 4.2 to 4.8, without the truncated case.
const VECTORS = [
  ["0b".repeat(20), "4869205468657265", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"],
  [
    "4a656665",
    "7768617420646f2079612077616e7420666f72206e6f7468696e673f",
    "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
  ],
  ["aa".repeat(20), "dd".repeat(50), "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"],
  [
    "0102030405060708090a0b0c0d0e0f10111213141516171819",
    "cd".repeat(50),
    "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b",
  ],
  [
    "aa".repeat(131),
    Buffer.from("Test Using Larger Than Block-Size Key - Hash Key First").toString("hex"),
    "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
  ],
  [
    "aa".repeat(131),
    Buffer.from(
      "This is a test using a larger than block-size key and a larger than block-size data. The key needs to be hashed before being used by the HMAC algorithm.",
    ).toString("hex"),
    "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2",
  ],
] as const;

suite("HMAC-SHA256", () => {
  test("matches the test vectors of RFC 4231", () => {
    for (const [key, message, digest] of VECTORS)
      assert.equal(createHmac("sha256", Buffer.from(key, "hex"))(Buffer.from(message, "hex")), digest);
  });

  test("joins the pieces of a message and keeps no state between messages", () => {
    const key = randomBytes(32);
    const hmac = createHmac("sha256", key);
    const whole = Buffer.from("1800000000.{}");
    const expected = nodeHmac("sha256", key).update(whole).digest("hex");
    for (let round = 0; round < 3; round++) {
      assert.equal(hmac(Buffer.from("1800000000"), Buffer.from("."), Buffer.from("{}")), expected);
      assert.equal(hmac(), nodeHmac("sha256", key).digest("hex"));
    }
  });
});

for (const digest of ["sha1", "sha256", "sha512"] as const) {
  test(`HMAC with ${digest} equals Node's for keys shorter and longer than a block and messages of any size`, () => {
    for (const keyBytes of [1, 31, 32, 63, 64, 65, 127, 128, 129, 1000]) {
      const key = randomBytes(keyBytes);
      const hmac = createHmac(digest, key);
      for (const bytes of [0, 1, 55, 56, 63, 64, 65, 127, 128, 260, 8191, 65_408, 65_409, 65_472, 65_473, 1_000_000]) {
        const message = randomBytes(bytes);
        assert.equal(hmac(message), nodeHmac(digest, key).update(message).digest("hex"), `${keyBytes}, ${bytes}`);
      }
    }
  });
}
