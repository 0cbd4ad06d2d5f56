import assert from "node:assert/strict";
import { test } from "node:test";
import { isVeryCommon } from "../../../src/auth/common-passwords.ts";
import { calibrate, type HashCost } from "../../../src/auth/password.ts";
import { parsePasswordHash } from "../../../src/auth/password-hash.ts";
import { authserve } from "../../helpers/command.ts";
import { workingDir } from "../../helpers/working-dir.ts";

const dir = workingDir();
const hash = (input: string, ...options: string[]) => authserve(["hash-password", ...options], { dir, input });

for (const password of [
  "password",
  "Password123!",
  "QWERTY",
  "123456",
  "abcdef",
  "987654",
  "aaaaaaaa",
  "abababab",
  "iloveyou2",
]) {
  test(`${password} is very common`, () => assert.equal(isVeryCommon(password), true));
}

for (const password of ["correct horse battery staple", "tr4verse-Lagoon", "x7#kQ2", "contemplation", "13572468"]) {
  test(`${password} is not very common`, () => assert.equal(isVeryCommon(password), false));
}

test("hash-password refuses a common or short password and shows neither it nor a hash", async () => {
  for (const input of ["Password1\n", "12345\n"]) {
    const { code, stdout, stderr } = await hash(input);
    assert.deepEqual([code, stdout], [2, ""]);
    assert.match(stderr, /--allow-weak/);
    assert.ok(!stderr.includes(input.trim()));
  }
});

test("hash-password --allow-weak hashes it and warns", async () => {
  for (const input of ["Password1\n", "12345\n"]) {
    const { code, stdout, stderr } = await hash(input, "--allow-weak");
    assert.equal(code, 0);
    assert.match(stdout, /^\$argon2id\$/);
    assert.match(stderr, /^Warning: The password /);
  }
  assert.equal((await hash("\n", "--allow-weak")).code, 2);
});

test("hash-password --calibrate prints a hash within the limits of DEMO_PASSWORD, and its duration", async () => {
  const { code, stdout, stderr } = await hash("a password of words\n", "--calibrate", "40ms");
  assert.equal(code, 0);
  const parsed = parsePasswordHash(stdout.trim());
  assert.ok(!("reason" in parsed) && parsed.algorithm === "argon2id" && parsed.memoryKib >= 19_456);
  assert.match(stderr, /^One hash with m=[0-9]+,t=[0-9]+,p=1 takes [0-9]+ ms/);
  assert.equal((await hash("a password of words\n", "--calibrate", "fast")).code, 2);
});

test("calibration increases memory first, then passes, and stays below the target and the limits", async () => {
  const linear = async ({ memoryKib, passes }: HashCost) => (memoryKib / 1024) * passes;
  const small = await calibrate(100, linear);
  assert.deepEqual(small.cost.passes, 2);
  assert.ok(small.tookMs <= 100 && small.tookMs > 75, String(small.tookMs));
  const large = await calibrate(1000, linear);
  assert.deepEqual(large.cost, { memoryKib: 262_144, passes: 3 });
  const endless = await calibrate(1_000_000, linear);
  assert.deepEqual(endless.cost, { memoryKib: 262_144, passes: 10 });
  const slow = await calibrate(10, linear);
  assert.deepEqual(slow.cost, { memoryKib: 19_456, passes: 2 });
});
