import assert from "node:assert/strict";
import { suite, test } from "node:test";
import * as argon2 from "@node-rs/argon2";
import * as bcrypt from "@node-rs/bcrypt";
import { decoyOf, faultOfLength, hashPassword, verifyHash } from "../../src/auth/password.ts";
import { parsePasswordHash } from "../../src/auth/password-hash.ts";

const CHEAP = { algorithm: argon2.Algorithm.Argon2id, memoryCost: 64, timeCost: 1, parallelism: 1 };

function hashOf(encoded: string) {
  const hash = parsePasswordHash(encoded);
  assert.ok("algorithm" in hash, "the hash was refused");
  return hash;
}

const verifierOf = (encoded: string) => (password: string) => verifyHash(hashOf(encoded), password);

const hashers: Record<string, (password: string) => Promise<string>> = {
  argon2id: (password) => argon2.hash(password, CHEAP),
  bcrypt: (password) => bcrypt.hash(password, 4),
};

for (const [algorithm, hash] of Object.entries(hashers)) {
  suite(`a password under ${algorithm}`, () => {
    test("is accepted when it is right and refused when it is not", async () => {
      const verify = verifierOf(await hash("correct horse"));
      assert.equal(await verify("correct horse"), true);
      for (const wrong of ["correct hors", "Correct horse", "correct horse ", " correct horse", ""]) {
        assert.equal(await verify(wrong), false, wrong);
      }
    });

    test("has a decoy of the same cost, which no password has", async () => {
      const real = hashOf(await hash("correct horse"));
      const decoy = await decoyOf(real);
      assert.deepEqual({ ...hashOf(decoy.encoded), encoded: "" }, { ...real, encoded: "" });
      for (const password of ["correct horse", "-"]) assert.equal(await verifyHash(decoy, password), false);
    });

    test("is the same in NFC and NFD", async () => {
      const verify = verifierOf(await hash("contrase\u00f1a"));
      assert.equal(await verify("contrasen\u0303a"), true);
      assert.equal(await verify("contrasena"), false);
    });

    test("does not end at a NUL", async () => {
      const verify = verifierOf(await hash("password"));
      assert.equal(await verify("password\0x"), false);
      assert.equal(await verify("password\0"), false);
    });
  });
}

suite("a long password", () => {
  const long = "x".repeat(72);

  test("under argon2id is compared to its last character", async () => {
    const verify = verifierOf(await argon2.hash(`${"x".repeat(1023)}a`, CHEAP));
    assert.equal(await verify(`${"x".repeat(1023)}a`), true);
    assert.equal(await verify(`${"x".repeat(1023)}b`), false);
  });

  test("under bcrypt is compared up to 72 bytes and refused above", async () => {
    const verify = verifierOf(await bcrypt.hash(long, 4));
    assert.equal(await verify(long), true);
    assert.equal(await verify(`${long.slice(0, -1)}y`), false);
    assert.equal(await verify(`${long}y`), false);
    assert.equal(await verify("é".repeat(37)), false);
  });
});

suite("a bcrypt hash", () => {
  for (const version of ["2a", "2b", "2y"]) {
    test(`with the prefix $${version}$ verifies`, async () => {
      const encoded = (await bcrypt.hash("secret password", 4)).replace(/^\$2[aby]/, `$${version}`);
      const verify = verifierOf(encoded);
      assert.equal(await verify("secret password"), true);
      assert.equal(await verify("other password"), false);
    });
  }

  test("that is accepted at start never causes an error at login", async () => {
    const good = await bcrypt.hash("secret password", 4);
    for (const encoded of [
      `${good.slice(0, 7)}${"z".repeat(53)}`,
      `${good.slice(0, -1)}9`,
      `${good.slice(0, 28)}z${good.slice(29)}`,
    ]) {
      const hash = parsePasswordHash(encoded);
      if ("reason" in hash) continue;
      assert.equal(typeof (await verifyHash(hash, "secret password")), "boolean", encoded.slice(0, 7));
    }
  });
});

suite("hashPassword", () => {
  test("makes an argon2id hash of 19 MiB that DEMO_PASSWORD accepts", async () => {
    const encoded = await hashPassword("contrasen\u0303a");
    assert.match(encoded, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    const verify = verifierOf(encoded);
    assert.equal(await verify("contrase\u00f1a"), true);
  });

  test("uses a new salt for each hash", async () => {
    assert.notEqual(await hashPassword("same password"), await hashPassword("same password"));
  });
});

test("a password that bcrypt would cut off gets a reason for the log, and argon2id takes it", () => {
  const bcrypt = { algorithm: "bcrypt", encoded: "", cost: 10 } as const;
  const argon2id = { algorithm: "argon2id", encoded: "", memoryKib: 8, passes: 1, lanes: 1, hashBytes: 32 } as const;
  const long = `${"ä".repeat(36)}a`;
  assert.match(String(faultOfLength(bcrypt, long)), /more than 72 bytes.*authserve hash-password$/);
  assert.equal(faultOfLength(bcrypt, long.slice(0, -1)), null);
  assert.equal(faultOfLength(argon2id, long), null);
});
