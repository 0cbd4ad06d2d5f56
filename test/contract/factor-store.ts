import assert from "node:assert/strict";
import { suite, test } from "node:test";
import {
  type FactorStore,
  type FactorStores,
  factorsOf,
  KEPT_LOGINS,
  KNOWN_NETWORK_MS,
  type LoginRecord,
  MAX_FACTORS,
  type NewFactor,
} from "../../src/auth/factors/store.ts";
import type { Cleanup } from "../helpers/temp-dir.ts";

const NOW = 1_800_000_000_000;

/** A new factor, with some members set by the test. */
export function newFactorOf(id: string, changes: Partial<NewFactor> = {}): NewFactor {
  return {
    id,
    kind: "totp",
    name: `the phone ñ ${id}`,
    data: '{"secret":"A"}',
    counter: 0,
    createdAt: NOW,
    ...changes,
  };
}

/** A login, with some members set by the test. */
export function loginOf(sid: string, changes: Partial<LoginRecord> = {}): LoginRecord {
  return { sid, at: NOW, network: "192.0.2.0/24", userAgent: "Firefox", method: "password", ...changes };
}

const idsOf = async (store: FactorStore) => (await store.list()).map(({ id }) => id);
const countOf = (results: boolean[]) => results.filter(Boolean).length;

/** The contract of every store of second factors. `open` returns an empty one, which is closed after the test. */
export function factorStoreContract(adapter: string, openAll: (context: Cleanup) => Promise<FactorStores>): void {
  /** Opens the factors of a person, beside whom there is another one. */
  async function open(context: Cleanup) {
    const all = await openAll(context);
    await all.add("other", newFactorOf("of another person"));
    await all.setRecoveryCodes("other", ["of another person"]);
    await all.addLogin("other", loginOf("of another person", { at: NOW - 1 }));
    return { ...factorsOf(all, "ada"), loginsFromNewNetworks: all.loginsFromNewNetworks };
  }

  suite(`factor store: ${adapter}`, () => {
    test("is empty at first", async (t) => {
      const store = await open(t);
      assert.deepEqual(await store.list(), []);
      assert.deepEqual(await store.remove("all"), []);
      assert.equal(await store.recoveryCodesLeft(), 0);
      assert.equal(await store.spendRecoveryCode("a"), false);
      assert.deepEqual(await store.logins(), []);
      assert.deepEqual(await store.loginsFromNewNetworks(0), []);
    });

    test("factors are listed with every member, the oldest first", async (t) => {
      const store = await open(t);
      const key = newFactorOf("b", { kind: "passkey", counter: 2 ** 32 - 2, createdAt: NOW + 1 });
      assert.equal(await store.add(key), true);
      assert.equal(await store.add(newFactorOf("c")), true);
      assert.deepEqual(await store.list(), [
        { ...newFactorOf("c"), lastUsedAt: null },
        { ...key, lastUsedAt: null },
      ]);
    });

    test("an id is taken once, and the first factor stays as it is", async (t) => {
      const store = await open(t);
      await store.add(newFactorOf("a"));
      assert.equal(await store.add(newFactorOf("a", { name: "other" })), false);
      assert.equal((await store.list())[0]?.name, newFactorOf("a").name);
    });

    test("there are at most so many factors, also of many that are added at once", async (t) => {
      const store = await open(t);
      const tries = Array.from({ length: MAX_FACTORS + 5 }, (_, n) => store.add(newFactorOf(`f-${n}`)));
      assert.equal(countOf(await Promise.all(tries)), MAX_FACTORS);
      assert.equal((await store.list()).length, MAX_FACTORS);
    });

    test("a use is written with its counter", async (t) => {
      const store = await open(t);
      await store.add(newFactorOf("a"));
      assert.equal(await store.use("a", 7, NOW + 5), true);
      const [factor] = await store.list();
      assert.deepEqual([factor?.counter, factor?.lastUsedAt], [7, NOW + 5]);
      assert.equal(await store.use("none", 1, NOW), false);
    });

    test("a counter that has not grown is refused, unless the factor has none", async (t) => {
      const store = await open(t);
      await store.add(newFactorOf("counts", { counter: 3 }));
      await store.add(newFactorOf("none"));
      assert.equal(await store.use("counts", 3, NOW), false);
      assert.equal(await store.use("counts", 0, NOW), false);
      assert.equal(await store.use("counts", 4, NOW), true);
      assert.equal(await store.use("counts", 3, NOW, true), false);
      assert.equal(await store.use("counts", 0, NOW, true), true);
      assert.equal(await store.use("counts", 0, NOW), true);
      assert.equal(await store.use("counts", 5, NOW, true), true);
      assert.equal(await store.use("none", 0, NOW), true);
      assert.equal(await store.use("none", 0, NOW), true);
    });

    test("of many uses of one counter at once, one counts", async (t) => {
      const store = await open(t);
      await store.add(newFactorOf("a", { counter: 1 }));
      assert.equal(countOf(await Promise.all(Array.from({ length: 10 }, () => store.use("a", 2, NOW)))), 1);
    });

    test("a removed factor is gone, and the recovery codes go with the last one", async (t) => {
      const store = await open(t);
      for (const id of ["a", "b", "c"]) await store.add(newFactorOf(id));
      await store.setRecoveryCodes(["x", "y"]);
      assert.deepEqual(await store.remove(["c", "none", "a"]), ["c", "a"]);
      assert.deepEqual(await idsOf(store), ["b"]);
      assert.equal(await store.recoveryCodesLeft(), 2);
      assert.deepEqual(await store.remove("all"), ["b"]);
      assert.equal(await store.recoveryCodesLeft(), 0);
    });

    test("a recovery code works once, and new ones replace all", async (t) => {
      const store = await open(t);
      await store.setRecoveryCodes(["a", "b", "c"]);
      assert.equal(await store.spendRecoveryCode("a"), true);
      assert.equal(await store.spendRecoveryCode("a"), false);
      assert.equal(await store.recoveryCodesLeft(), 2);
      await store.setRecoveryCodes(["d"]);
      assert.equal(await store.spendRecoveryCode("b"), false);
      assert.equal(countOf(await Promise.all(Array.from({ length: 10 }, () => store.spendRecoveryCode("d")))), 1);
      assert.equal(await store.recoveryCodesLeft(), 0);
    });

    test("what works once is used up until it expires", async (t) => {
      const store = await open(t);
      const spends = Array.from({ length: 10 }, () => store.spend("challenge", NOW + 100, NOW));
      assert.equal(countOf(await Promise.all(spends)), 1);
      assert.equal(await store.spend("other", NOW + 100, NOW), true);
      assert.equal(await store.spend("challenge", NOW + 200, NOW + 99), false);
      assert.equal(await store.spend("challenge", NOW + 200, NOW + 100), true);
    });

    test("the newest logins are kept, with every member", async (t) => {
      const store = await open(t);
      for (let n = 0; n < KEPT_LOGINS + 3; n++) await store.addLogin(loginOf(`s-${n}`, { at: NOW + n }));
      await store.addLogin(loginOf("last", { at: NOW + 1000, userAgent: null, method: "passkey" }));
      const logins = await store.logins();
      assert.equal(logins.length, KEPT_LOGINS);
      assert.deepEqual(logins[0], loginOf("last", { at: NOW + 1000, userAgent: null, method: "passkey" }));
      assert.equal(logins.at(-1)?.sid, "s-4");
    });

    test("the network of the first login is not new, and every other one is", async (t) => {
      const store = await open(t);
      await store.addLogin(loginOf("first"));
      await store.addLogin(loginOf("again", { at: NOW + 1 }));
      assert.deepEqual(await store.loginsFromNewNetworks(0), []);
      const network = "2001:db8::/48";
      await store.addLogin(loginOf("elsewhere", { at: NOW + 2, network }));
      await store.addLogin(loginOf("there again", { at: NOW + 3, network }));
      assert.deepEqual(await store.loginsFromNewNetworks(NOW + 2), [
        { account: "ada", sid: "elsewhere", at: NOW + 2, network },
      ]);
      assert.deepEqual(await store.loginsFromNewNetworks(NOW + 3), []);
    });

    test("a network is new again once nobody has logged in from there for a month", async (t) => {
      const store = await open(t);
      await store.addLogin(loginOf("first"));
      await store.addLogin(loginOf("in time", { at: NOW + KNOWN_NETWORK_MS }));
      assert.deepEqual(await store.loginsFromNewNetworks(0), []);
      const at = NOW + 2 * KNOWN_NETWORK_MS + 1;
      await store.addLogin(loginOf("late", { at }));
      assert.deepEqual(await store.loginsFromNewNetworks(0), [
        { account: "ada", sid: "late", at, network: "192.0.2.0/24" },
      ]);
    });

    test("nothing of a person is there for another one", async (t) => {
      const all = await openAll(t);
      const [ada, ben] = [factorsOf(all, "ada"), factorsOf(all, "ben")];
      await ada.add(newFactorOf("a", { kind: "passkey", counter: 1 }));
      await ada.setRecoveryCodes(["code"]);
      await ada.addLogin(loginOf("s-1"));
      assert.deepEqual([await ben.list(), await ben.recoveryCodesLeft(), await ben.logins()], [[], 0, []]);
      assert.deepEqual(await ben.remove(["a"]), []);
      assert.deepEqual(await ben.remove("all"), []);
      assert.equal(await ben.use("a", 2, NOW), false);
      assert.equal(await ben.spendRecoveryCode("code"), false);
      await ben.setRecoveryCodes([]);
      assert.equal(await ben.add(newFactorOf("a")), false, "a passkey is one person's");
      for (let n = 0; n <= KEPT_LOGINS; n++) await ben.addLogin(loginOf(`b-${n}`, { at: NOW + n }));
      assert.deepEqual(await ada.logins(), [loginOf("s-1")]);
      assert.deepEqual([(await ada.list()).length, await ada.recoveryCodesLeft()], [1, 1]);
      await ben.add(newFactorOf("b", { createdAt: NOW + 1 }));
      assert.deepEqual(
        (await all.listAll()).map(({ account, id }) => [account, id]),
        [
          ["ada", "a"],
          ["ben", "b"],
        ],
      );
      assert.deepEqual(await all.loginsFromNewNetworks(0), [], "the first network of each person is not new");
    });
  });
}
