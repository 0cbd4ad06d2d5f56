import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { suite, test } from "node:test";
import type { PersonStore, TakenPerson } from "../../src/auth/people/store.ts";
import type { SmallStores } from "../../src/storage/small-stores.ts";
import type { Cleanup } from "../helpers/temp-dir.ts";
import { clientTokenOf, codeOf } from "./client-store.ts";
import { loginOf, newFactorOf } from "./factor-store.ts";

type Stores = Pick<SmallStores, "people" | "factors" | "tokens" | "clients">;

const BEN = { id: "ben", email: "ben@example.com" };
const CLEO = { id: "cleo", email: "cleo@example.com" };
/** Names that a pattern of SQL could take for another. */
const B_N = { id: "b_n", email: "b_n@example.com" };
const BENNY = { id: "benny", email: "benny@example.com" };

/** The account of the person of the environment, whose id is another one. */
const ENVIRONMENT = { account: "", id: "1" };
const accountOf = ({ id }: TakenPerson) => ({ account: id, id });

/** Stores one of each thing for an account. */
async function fill({ factors, tokens, clients }: Stores, { account, id }: { account: string; id: string }) {
  const of = (name: string) => `${name} of ${id}`;
  await factors.add(account, newFactorOf(of("factor")));
  await factors.setRecoveryCodes(account, [of("code")]);
  await factors.addLogin(account, loginOf(of("session")));
  const name = account === "" ? "phone" : `${account}/phone`;
  await tokens.create({ name, scopes: ["verify"], createdAt: 1, expiresAt: null, digest: of("token") });
  await clients.setConsent(id, "photos", "openid", 1);
  // Used codes stay in the store.
  const code = codeOf(randomUUID(), { userId: id, sid: of("session") });
  await clients.addCode(code);
  await clients.useCode(code.digest);
  await clients.addTokens([clientTokenOf(of("app"), { userId: id, sid: of("session"), family: code.digest })]);
}

/** What there is of an account. */
async function heldBy({ factors, tokens, clients }: Stores, { account, id }: { account: string; id: string }) {
  const name = account === "" ? "phone" : `${account}/phone`;
  return {
    factors: (await factors.list(account)).length,
    codes: await factors.recoveryCodesLeft(account),
    logins: (await factors.logins(account)).length,
    networks: (await factors.loginsFromNewNetworks(0)).filter((one) => one.account === account).length,
    tokens: (await tokens.list()).filter((token) => token.name === name).length,
    consents: (await clients.consent(id, "photos")) === null ? 0 : 1,
    appTokens: (await clients.findToken(clientTokenOf(`app of ${id}`).digest)) === null ? 0 : 1,
  };
}

const ALL = { factors: 1, codes: 1, logins: 1, networks: 0, tokens: 1, consents: 1, appTokens: 1 };
const NOTHING = { factors: 0, codes: 0, logins: 0, networks: 0, tokens: 0, consents: 0, appTokens: 0 };

const marksOf = async (people: PersonStore) =>
  Object.fromEntries((await people.list()).map(({ id, mark }) => [id, mark]));

/** The contract of every store of people. `open` returns empty stores, which are closed after the test. */
export function peopleStoreContract(adapter: string, open: (context: Cleanup) => Promise<Stores>): void {
  suite(`people store: ${adapter}`, () => {
    test("whoever is in the file stays, with one mark", async (t) => {
      const { people } = await open(t);
      assert.deepEqual(await people.take([BEN], [], "first"), []);
      assert.deepEqual(await people.take([BEN, CLEO], [], "second"), []);
      assert.deepEqual(await marksOf(people), { ben: "first", cleo: "second" });
      assert.deepEqual(await people.list(), [
        { ...BEN, mark: "first", passwordHash: null },
        { ...CLEO, mark: "second", passwordHash: null },
      ]);
    });

    test("whoever is taken out loses everything, and nobody else loses anything", async (t) => {
      const stores = await open(t);
      const others = [CLEO, B_N, BENNY];
      await stores.people.take([BEN, ...others], [], "first");
      for (const one of [ENVIRONMENT, ...[BEN, ...others].map(accountOf)]) await fill(stores, one);
      await stores.clients.addCode(codeOf("unused", { userId: "ben" }));
      assert.deepEqual(await heldBy(stores, accountOf(BEN)), ALL);
      assert.deepEqual(await stores.people.take(others, [], "second"), ["ben"]);
      assert.deepEqual(await heldBy(stores, accountOf(BEN)), NOTHING);
      assert.equal(await stores.clients.useCode(codeOf("unused").digest), null);
      for (const one of [ENVIRONMENT, ...others.map(accountOf)]) assert.deepEqual(await heldBy(stores, one), ALL);
      assert.deepEqual(await stores.people.take([BEN, ...others], [], "third"), []);
      assert.equal((await marksOf(stores.people)).ben, "third");
      assert.deepEqual(await heldBy(stores, accountOf(BEN)), NOTHING);
    });

    test("another e-mail is another person, who inherits nothing", async (t) => {
      const stores = await open(t);
      await stores.people.take([BEN], [], "first");
      await stores.people.setPassword("ben", "a hash");
      await fill(stores, accountOf(BEN));
      const other = { ...BEN, email: "other@example.com" };
      assert.deepEqual(await stores.people.take([other], [], "second"), []);
      assert.deepEqual(await stores.people.list(), [{ ...other, mark: "second", passwordHash: null }]);
      assert.deepEqual(await heldBy(stores, accountOf(BEN)), NOTHING);
    });

    test("whoever was removed and added again between two calls is new, once", async (t) => {
      const stores = await open(t);
      await stores.people.take([BEN, CLEO], [], "first");
      for (const one of [BEN, CLEO]) await fill(stores, accountOf(one));
      const removed = [{ id: "ben", mark: "first" }];
      await stores.people.take([BEN, CLEO], removed, "second");
      assert.deepEqual(await marksOf(stores.people), { ben: "second", cleo: "first" });
      assert.deepEqual(await heldBy(stores, accountOf(BEN)), NOTHING);
      assert.deepEqual(await heldBy(stores, accountOf(CLEO)), ALL);
      await fill(stores, accountOf(BEN));
      await stores.people.take([BEN, CLEO], removed, "third");
      assert.deepEqual(await heldBy(stores, accountOf(BEN)), ALL, "another server has removed that one");
    });

    test("what is of nobody is removed, also if somebody gets the id", async (t) => {
      const stores = await open(t);
      // A login that was under way when they were removed.
      for (const one of [ENVIRONMENT, ...[BEN, CLEO].map(accountOf)]) await fill(stores, one);
      assert.deepEqual(await stores.people.take([BEN], [], "first"), ["cleo"]);
      assert.deepEqual(await heldBy(stores, accountOf(BEN)), NOTHING);
      assert.deepEqual(await heldBy(stores, accountOf(CLEO)), NOTHING);
      assert.deepEqual(await heldBy(stores, ENVIRONMENT), ALL);
      await fill(stores, accountOf(BEN));
      assert.deepEqual(await stores.people.take([], [], "second"), ["ben"]);
      assert.deepEqual(await heldBy(stores, accountOf(BEN)), NOTHING);
      assert.deepEqual(await heldBy(stores, ENVIRONMENT), ALL);
    });

    test("of many that add a person at once, all get the same mark", async (t) => {
      const { people } = await open(t);
      await Promise.all(Array.from({ length: 10 }, (_, n) => people.take([BEN, CLEO], [], `mark ${n}`)));
      const marks = await marksOf(people);
      assert.equal(marks.ben, marks.cleo);
      await people.take([BEN, CLEO], [], "later");
      assert.deepEqual(await marksOf(people), marks);
    });

    test("the factors of several people are each one's own, and so are their limits", async (t) => {
      const { factors } = await open(t);
      await factors.add("ben", newFactorOf("a"));
      assert.equal(await factors.add("cleo", newFactorOf("a")), false, "an id is that of one credential");
      await factors.add("cleo", newFactorOf("b"));
      await factors.setRecoveryCodes("ben", ["x"]);
      await factors.setRecoveryCodes("cleo", ["y"]);
      assert.equal(await factors.use("cleo", "a", 1, 1), false);
      assert.equal(await factors.spendRecoveryCode("cleo", "x"), false);
      assert.deepEqual(await factors.remove("cleo", ["a"]), []);
      assert.deepEqual(await factors.remove("cleo", "all"), ["b"]);
      assert.equal(await factors.recoveryCodesLeft("cleo"), 0);
      assert.equal(await factors.recoveryCodesLeft("ben"), 1);
      assert.equal((await factors.list("ben")).length, 1);
    });

    test("a network is known for each person apart", async (t) => {
      const { factors } = await open(t);
      await factors.addLogin("ben", loginOf("1", { network: "192.0.2.0/24", at: 10 }));
      await factors.addLogin("cleo", loginOf("2", { network: "198.51.100.0/24", at: 20 }));
      await factors.addLogin("cleo", loginOf("3", { network: "192.0.2.0/24", at: 30 }));
      const found = await factors.loginsFromNewNetworks(0);
      assert.deepEqual(found, [{ account: "cleo", sid: "3", at: 30, network: "192.0.2.0/24" }]);
      assert.deepEqual(
        (await factors.logins("ben")).map(({ sid }) => sid),
        ["1"],
      );
    });
  });
}
