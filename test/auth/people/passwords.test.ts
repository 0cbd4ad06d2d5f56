import assert from "node:assert/strict";
import { suite, test } from "node:test";
import * as argon2 from "@node-rs/argon2";
import * as bcrypt from "@node-rs/bcrypt";
import { parsePasswordHash } from "../../../src/auth/password-hash.ts";
import { createPasswordVerifier } from "../../../src/auth/people/passwords.ts";
import { createPeople, type PersonEntry } from "../../../src/auth/people/people.ts";

const SECRET = "a secret of the test, 32 bytes or more";
const CHEAP = { algorithm: argon2.Algorithm.Argon2id, memoryCost: 1024, timeCost: 1, parallelism: 1 };
const [argon, slow] = [await argon2.hash("of ada", CHEAP), await bcrypt.hash("of ben", 4)];

function hashOf(encoded: string) {
  const hash = parsePasswordHash(encoded);
  assert.ok("algorithm" in hash);
  return hash;
}

const entryOf = (name: string, passwordHash: string | null): PersonEntry => ({
  name,
  email: `${name}@example.com`,
  displayName: null,
  groups: [],
  isOwner: false,
  passwordHash: passwordHash === null ? null : hashOf(passwordHash),
});

const ENVIRONMENT = { id: "1", email: "ada@example.com", passwordHash: hashOf(argon) };

/** Ada of the environment, ben with a slower hash, cleo without one and dan with a password in the store. */
async function open() {
  const people = createPeople(ENVIRONMENT);
  const entries = [entryOf("ben", slow), entryOf("cleo", null), entryOf("dan", null)];
  people.set(entries, new Map(entries.map(({ name }) => [name, `mark of ${name}`])));
  const asked: string[] = [];
  const chosen = await argon2.hash("of dan", CHEAP);
  const store = {
    async passwordHash(id: string) {
      asked.push(id);
      return id === "dan" ? chosen : null;
    },
  };
  const verify = await createPasswordVerifier({ people, store, secret: SECRET });
  const isRight = (email: string, password: string) => verify(password, email, people.byEmail(email));
  return { asked, isRight };
}

suite("the passwords of several people", () => {
  test("are each one's own, of the file or of the store", async () => {
    const { isRight } = await open();
    for (const name of ["ada", "ben", "dan"])
      for (const other of ["ada", "ben", "dan"])
        assert.equal(await isRight(`${name}@example.com`, `of ${other}`), name === other, `${name} ${other}`);
    for (const email of ["cleo@example.com", "nobody@example.com"])
      assert.equal(await isRight(email, "of ada"), false, email);
  });

  test("cost one read of the store for whatever e-mail", async () => {
    const { isRight, asked } = await open();
    for (const name of ["ada", "ben", "cleo", "dan", "nobody"]) {
      asked.length = 0;
      await isRight(`${name}@example.com`, "a wrong password");
      assert.equal(asked.length, 1, name);
    }
  });

  test("cost no read without people in the file", async () => {
    const store = { passwordHash: () => assert.fail("the store was asked") };
    const people = createPeople(ENVIRONMENT);
    const verify = await createPasswordVerifier({ people, store, secret: SECRET });
    assert.equal(await verify("of ada", ENVIRONMENT.email, people.byEmail(ENVIRONMENT.email)), true);
    assert.equal(await verify("of ada", "nobody@example.com", null), false);
  });
});
