import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { parsePasswordHash, type RefusedHash } from "../../src/auth/password-hash.ts";

const SALT = "c29tZXNhbHRzb21lc2FsdA";
const HASH = "MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI";
const BCRYPT_TAIL = "N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy";

const argon2id = (parameters: string, salt = SALT, hash = HASH) => `$argon2id$v=19$${parameters}$${salt}$${hash}`;

function reasonFor(encoded: string): string {
  const result = parsePasswordHash(encoded);
  assert.ok("reason" in result, "the hash was accepted");
  return result.reason;
}

suite("a password hash", () => {
  test("of argon2id is read with its parameters", () => {
    assert.deepEqual(parsePasswordHash(argon2id("m=19456,t=2,p=1")), {
      algorithm: "argon2id",
      encoded: argon2id("m=19456,t=2,p=1"),
      memoryKib: 19_456,
      passes: 2,
      lanes: 1,
      hashBytes: 32,
    });
  });

  for (const version of ["2a", "2b", "2y"]) {
    test(`of bcrypt $${version}$ is read with its cost`, () => {
      const encoded = `$${version}$10$${BCRYPT_TAIL}`;
      assert.deepEqual(parsePasswordHash(encoded), { algorithm: "bcrypt", encoded, cost: 10 });
    });
  }

  for (const parameters of ["m=262144,t=1,p=1", "m=19456,t=10,p=1", "m=19456,t=1,p=8", "m=8,t=1,p=1"]) {
    test(`at a limit (${parameters}) is accepted`, () => {
      assert.ok("algorithm" in parsePasswordHash(argon2id(parameters)));
    });
  }

  for (const cost of ["04", "15"]) {
    test(`of bcrypt at cost ${cost} is accepted`, () => {
      assert.ok("algorithm" in parsePasswordHash(`$2b$${cost}$${BCRYPT_TAIL}`));
    });
  }

  for (const [parameters, name] of [
    ["m=4194304,t=1,p=1", "m"],
    ["m=262145,t=1,p=1", "m"],
    ["m=7,t=1,p=1", "m"],
    ["m=63,t=1,p=8", "m"],
    ["m=19456,t=4294967295,p=1", "t"],
    ["m=19456,t=11,p=1", "t"],
    ["m=19456,t=0,p=1", "t"],
    ["m=19456,t=2,p=9", "p"],
    ["m=19456,t=2,p=0", "p"],
  ] as const) {
    test(`above a limit (${parameters}) is refused with the parameter's name`, () => {
      assert.match(reasonFor(argon2id(parameters)), new RegExp(`^has ${name} outside`));
    });
  }

  for (const kind of ["d", "i"]) {
    test(`of argon2${kind} is refused with the algorithm's name`, () => {
      assert.match(reasonFor(`$argon2${kind}$v=19$m=19456,t=2,p=1$${SALT}$${HASH}`), /only argon2id/);
    });
  }

  test("of argon2id is refused if up to twenty characters are cut off", () => {
    for (let cut = 1; cut <= 20; cut++) {
      assert.match(reasonFor(argon2id("m=19456,t=2,p=1", SALT, HASH.slice(0, -cut))), /was probably cut$/, `${cut}`);
    }
  });

  // What the readers of settings in docs/operate.md make of a hash that is written in another way than the page says.
  const LOST = "is a hash that lost the parts behind $";
  const HASHES = { argon2id: argon2id("m=19456,t=2,p=1"), bcrypt: `$2b$10$${BCRYPT_TAIL}` };
  const doubled = (hash: string) => hash.replaceAll("$", "$$$$");
  const escaped = (hash: string) => hash.replaceAll("$", "\\$");
  const byShell = (hash: string) => doubled(hash).replaceAll("$$", "16751");
  for (const [how, encoded, expected] of [
    ["as it is, by a shell or Docker Compose", "=19=19456,t=2,p=1", LOST],
    ["as it is, by a shell, with a salt that has a / in it", "=19=19456,t=2,p=1/xyz+/abc", LOST],
    ["as it is, by a reader that knows $argon2id alone", "=19$m=19456,t=2,p=1", LOST],
    ["as it is, of bcrypt, by a shell", "b0", LOST],
    ["as it is, of bcrypt with a . in it, by a shell", `b0${BCRYPT_TAIL.slice(BCRYPT_TAIL.indexOf("."))}`, LOST],
    ["as it is, of bcrypt, by Docker Compose", "$2b$10", LOST],
    ["as it is, of bcrypt with a / in it, by Docker Compose", "$2b$10/abcdefg", LOST],
    ["with \\$, without quotes, by Docker Compose", "\\\\=19\\=19456,t=2,p=1\\\\", LOST],
    ["with \\$, without quotes, of bcrypt, by Docker Compose", "\\$2b\\$10\\", LOST],
    ...Object.entries(HASHES).flatMap(([name, hash]) => [
      [`in single quotes, of ${name}, by docker run`, `'${hash}'`, "has quotes around it"],
      [`in double quotes, of ${name}, by docker run`, `"${hash}"`, "has quotes around it"],
      [`with $$, of ${name}, by docker run or systemd`, doubled(hash), "has $$ where the hash has $"],
      [
        `with $$ in quotes, of ${name}, by docker run`,
        `"${doubled(hash)}"`,
        "has quotes around it, has $$ where the hash has $",
      ],
      [`with $$, of ${name}, by a shell`, byShell(hash), "has a number where the hash has $, as shells make it of $$"],
      [`with \\$, of ${name}, by docker run`, escaped(hash), "has a \\ before each $"],
      [
        `with \\$ in quotes, of ${name}, by docker run`,
        `"${escaped(hash)}"`,
        "has quotes around it, has a \\ before each $",
      ],
    ]),
  ] as [string, string, string][]) {
    test(`written ${how} is recognized`, () => {
      const { reason, remedy = "" } = parsePasswordHash(encoded) as RefusedHash;
      assert.equal(reason, expected);
      if (reason === LOST)
        for (const word of ["single quotes", "$$", "DEMO_PASSWORD_FILE"]) assert.ok(remedy.includes(word), word);
      if (/quotes/.test(reason)) assert.match(remedy, /^remove the quotes/);
      if (/\$\$/.test(reason)) assert.match(remedy, /write each \$ once/);
      if (/\\/.test(reason)) assert.match(remedy, /remove each \\/);
    });
  }

  for (const [what, encoded] of [
    ["nothing", ""],
    ["a plain password", "correct horse battery staple"],
    ["argon2id version 16", `$argon2id$v=16$m=19456,t=2,p=1$${SALT}$${HASH}`],
    ["argon2id without a version", `$argon2id$m=19456,t=2,p=1$${SALT}$${HASH}`],
    ["argon2id cut in its hash", argon2id("m=19456,t=2,p=1", SALT, "MTIz")],
    ["argon2id without its hash", `$argon2id$v=19$m=19456,t=2,p=1$${SALT}`],
    ["argon2id with a padded salt", argon2id("m=19456,t=2,p=1", `${SALT}==`)],
    ["argon2id with stray bits in its salt", argon2id("m=19456,t=2,p=1", "c29tZXNhbHRzb21lc2FsdB")],
    ["argon2id with a short salt", argon2id("m=19456,t=2,p=1", "c29t")],
    ["argon2id with parameters in another order", argon2id("t=2,m=19456,p=1")],
    ["argon2id with a negative parameter", argon2id("m=19456,t=-2,p=1")],
    ["argon2id with a leading zero in m", argon2id("m=019456,t=2,p=1")],
    ["argon2id with a leading zero in t", argon2id("m=19456,t=02,p=1")],
    ["argon2id with a leading zero in p", argon2id("m=19456,t=2,p=01")],
    ["argon2id followed by a line end", `${argon2id("m=19456,t=2,p=1")}\n`],
    ["bcrypt at cost 31", `$2b$31$${BCRYPT_TAIL}`],
    ["bcrypt at cost 16", `$2b$16$${BCRYPT_TAIL}`],
    ["bcrypt at cost 3", `$2b$03$${BCRYPT_TAIL}`],
    ["bcrypt $2$", `$2$10$${BCRYPT_TAIL}`],
    ["bcrypt $2x$", `$2x$10$${BCRYPT_TAIL}`],
    ["bcrypt cut by one character", `$2b$10$${BCRYPT_TAIL.slice(0, -1)}`],
    ["md5crypt", "$1$abcdefgh$0123456789abcdefghijkl"],
    ["a SHA-256 in hex", "5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8"],
  ] as const) {
    test(`that is ${what} is refused, and the reason does not contain it`, () => {
      const reason = reasonFor(encoded);
      assert.ok(encoded === "" || !reason.includes(encoded.trim()), reason);
    });
  }
});
