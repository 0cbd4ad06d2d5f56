import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { SessionStore } from "../../src/auth/sessions.ts";
import type { Cleanup } from "../helpers/temp-dir.ts";
import { until } from "../helpers/until.ts";
import { runSessionRaces } from "../selftest/session-races.ts";

const TEN = Array.from({ length: 10 }, (_, n) => `p${n}`);

/** The contract of every session store. `open` returns an empty one, which is closed after the test. */
export function sessionStoreContract(adapter: string, open: (context: Cleanup) => Promise<SessionStore>): void {
  suite(`session store: ${adapter}`, () => {
    test("a user without a login has no session", async (t) => {
      const store = await open(t);
      assert.equal(await store.current("1"), null);
      assert.equal(await store.find("1"), null);
      assert.equal(await store.removeIf("1", "a"), false);
      assert.equal(await store.remove("1"), false);
    });

    test("a login stores the session, and the next login replaces it", async (t) => {
      const store = await open(t);
      assert.equal((await store.replace("1", "a", 60)).wasLive, false);
      assert.equal(await store.current("1"), "a");
      assert.equal((await store.replace("1", "b", 60)).wasLive, true);
      assert.equal(await store.current("1"), "b");
    });

    test("users whose names differ in case or form have sessions of their own", async (t) => {
      const store = await open(t);
      const users = ["é", "É", "e\u0301", "😀", "\uff5e", "9007199254740993", "9007199254740992"];
      for (const user of users) assert.equal((await store.replace(user, `of ${user}`, 60)).wasLive, false, user);
      for (const user of users) assert.equal(await store.current(user), `of ${user}`);
    });

    test("a session has its expiry", async (t) => {
      const store = await open(t);
      const before = Date.now();
      await store.replace("1", "a", 60);
      const record = await store.find("1");
      const after = Date.now();
      assert.equal(record?.sid, "a");
      const expiresAt = record?.expiresAt ?? 0;
      assert.ok(expiresAt > before + 55_000 && expiresAt < after + 65_000, `${expiresAt - before} ms`);
    });

    test("a new session has its own lifetime, not the rest of the old one's", async (t) => {
      const store = await open(t);
      await store.replace("1", "a", 3600);
      await store.replace("1", "b", 60);
      assert.ok(((await store.find("1"))?.expiresAt ?? 0) < Date.now() + 65_000);
      await store.replace("1", "c", 3600);
      assert.ok(((await store.find("1"))?.expiresAt ?? 0) > Date.now() + 3_500_000);
    });

    test("a session ends with its lifetime, and reading does not prolong it", async (t) => {
      const store = await open(t);
      await store.replace("1", "a", 1);
      await until(async () => (await store.current("1")) === null);
      assert.equal(await store.find("1"), null);
      assert.equal(await store.removeIf("1", "a"), false);
      assert.equal(await store.remove("1"), false);
      assert.equal((await store.replace("1", "b", 60)).wasLive, false);
    });

    test("a session has the origin of its login, if that is known", async (t) => {
      const store = await open(t);
      const origin = { network: "192.0.2.0/24", userAgent: "Firefox" };
      await store.replace("1", "a", 60, origin);
      assert.deepEqual((await store.find("1"))?.origin, origin);
      await store.replace("1", "b", 60);
      assert.equal((await store.find("1"))?.origin, null);
      await store.replace("1", "c", 60, { ...origin, userAgent: null });
      assert.deepEqual((await store.find("1"))?.origin, { ...origin, userAgent: null });
    });

    test("a live session is extended, and never shortened", async (t) => {
      const store = await open(t);
      await store.replace("1", "a", 60, { network: "192.0.2.0/24", userAgent: null });
      const leftMs = async () => ((await store.find("1"))?.expiresAt ?? 0) - Date.now();
      assert.equal(await store.extendIf("1", "a", 3600), true);
      assert.ok((await leftMs()) > 3_500_000);
      assert.equal((await store.find("1"))?.origin?.network, "192.0.2.0/24");
      assert.equal(await store.extendIf("1", "a", 60), true);
      assert.ok((await leftMs()) > 3_500_000);
    });

    test("a session that was superseded, ended or never opened is not extended, and not revived", async (t) => {
      const store = await open(t);
      assert.equal(await store.extendIf("1", "a", 60), false);
      await store.replace("1", "a", 60);
      await store.replace("1", "b", 60);
      assert.equal(await store.extendIf("1", "a", 3600), false);
      assert.equal(await store.current("1"), "b");
      assert.ok(((await store.find("1"))?.expiresAt ?? 0) < Date.now() + 65_000);
      await store.removeIf("1", "b");
      assert.equal(await store.extendIf("1", "b", 3600), false);
      assert.equal(await store.current("1"), null);
      await store.replace("1", "c", 1);
      await until(async () => (await store.current("1")) === null);
      assert.equal(await store.extendIf("1", "c", 60), false);
      assert.equal(await store.current("1"), null);
    });

    test("a logout ends its own session and returns true once", async (t) => {
      const store = await open(t);
      await store.replace("1", "a", 60);
      assert.equal(await store.removeIf("1", "a"), true);
      assert.equal(await store.current("1"), null);
      assert.equal(await store.removeIf("1", "a"), false);
    });

    test("a logout of a superseded session leaves the new one alone", async (t) => {
      const store = await open(t);
      await store.replace("1", "a", 60);
      await store.replace("1", "b", 60);
      assert.equal(await store.removeIf("1", "a"), false);
      assert.equal(await store.current("1"), "b");
    });

    test("a revocation ends the current session", async (t) => {
      const store = await open(t);
      await store.replace("1", "a", 60);
      assert.equal(await store.remove("1"), true);
      assert.equal(await store.current("1"), null);
      assert.equal(await store.remove("1"), false);
    });

    test("a live session gets the key of one device, and is bound once the key has signed a challenge", async (t) => {
      const store = await open(t);
      const device = async () => (await store.find("1"))?.device;
      assert.equal(await store.registerDevice("1", "a", "key a"), false);
      await store.replace("1", "a", 60, { network: "192.0.2.0/24", userAgent: null });
      assert.equal(await device(), null);
      assert.equal(await store.proveDevice("1", "a", 5, 100), false);
      assert.equal(await store.registerDevice("1", "b", "key b"), false);
      assert.equal(await store.registerDevice("1", "a", "key a"), true);
      assert.equal(await store.registerDevice("1", "a", "another key"), false);
      assert.deepEqual(await device(), { publicKey: "key a", challengedAt: 0, boundFrom: null });
      assert.equal(await store.proveDevice("1", "b", 5, 100), false);
      assert.equal(await store.proveDevice("1", "a", 5, 100), true);
      assert.deepEqual(await device(), { publicKey: "key a", challengedAt: 5, boundFrom: 100 });
      assert.equal(await store.extendIf("1", "a", 3600), true);
      assert.equal((await device())?.boundFrom, 100);
    });

    test("a device proves itself by a newer challenge each time, and once by each", async (t) => {
      const store = await open(t);
      const now = Date.now();
      await store.replace("1", "a", 60);
      await store.registerDevice("1", "a", "key a");
      const proofs = await Promise.all([1, 2, 3].map(() => store.proveDevice("1", "a", now, now + 100)));
      assert.deepEqual(proofs.filter(Boolean), [true]);
      assert.equal(await store.proveDevice("1", "a", now - 1, now + 200), false);
      assert.equal(await store.proveDevice("1", "a", now + 1, now + 300), true);
      const { device } = (await store.find("1")) ?? {};
      assert.deepEqual(device, { publicKey: "key a", challengedAt: now + 1, boundFrom: now + 100 });
    });

    test("the device of an earlier session is not that of the next one", async (t) => {
      const store = await open(t);
      await store.replace("1", "a", 60);
      await store.registerDevice("1", "a", "key a");
      await store.proveDevice("1", "a", 5, 100);
      await store.replace("1", "b", 60);
      assert.equal((await store.find("1"))?.device, null);
      assert.equal(await store.proveDevice("1", "b", 6, 100), false);
      assert.equal(await store.proveDevice("1", "a", 6, 100), false);
      assert.equal(await store.registerDevice("1", "b", "key b"), true);
      const { device } = (await store.find("1")) ?? {};
      assert.deepEqual(device, { publicKey: "key b", challengedAt: 0, boundFrom: null });
      await store.remove("1");
      assert.equal(await store.proveDevice("1", "b", 6, 100), false);
    });

    test("users do not affect each other, whatever characters their ids contain", async (t) => {
      const store = await open(t);
      const ids = ["1", "10", "*", "1:1", "ñ", "a b"];
      for (const id of ids) await store.replace(id, `sid of ${id}`, 60);
      for (const id of ids) assert.equal(await store.current(id), `sid of ${id}`);
      await store.remove("*");
      assert.equal(await store.current("1"), "sid of 1");
    });

    test("ten people who log in at once, and often, have one live session each", async (t) => {
      const store = await open(t);
      const logins = TEN.flatMap((id) => Array.from({ length: 10 }, (_, n) => ({ id, sid: `${n} of ${id}` })));
      const replaced = await Promise.all(logins.map(({ id, sid }) => store.replace(id, sid, 60)));
      for (const id of TEN) {
        const own = replaced.filter((_, index) => logins[index]?.id === id);
        assert.equal(own.filter(({ wasLive }) => !wasLive).length, 1, id);
        const sid = await store.current(id);
        assert.match(String(sid), new RegExp(`^[0-9] of ${id}$`));
        for (const other of TEN) if (other !== id) assert.equal(await store.removeIf(other, String(sid)), false);
      }
      assert.equal((await Promise.all(TEN.map((id) => store.remove(id)))).filter(Boolean).length, 10);
    });

    test("a login, a device, a credential and an end of one person change nothing of nine others", async (t) => {
      const store = await open(t);
      const from = (id: string) => ({ network: "192.0.2.0/24", userAgent: `that of ${id}` });
      for (const id of TEN) assert.equal(await store.bind(id, `credential of ${id}`), false);
      for (const sid of ["old", "new"])
        await Promise.all(TEN.map((id) => store.replace(id, `${sid} of ${id}`, 60, from(id))));
      const [first = "", second = "", third = "", ...others] = TEN;
      await store.registerDevice(first, `new of ${first}`, "key");
      await store.proveDevice(first, `new of ${first}`, 5, 100);
      assert.equal(await store.registerDevice(second, `new of ${first}`, "key"), false);
      assert.equal(await store.bind(second, "another credential"), true);
      assert.equal(await store.removeIf(third, `new of ${third}`), true);
      assert.equal((await store.find(first))?.device?.boundFrom, 100);
      assert.deepEqual([await store.current(second), await store.current(third)], [null, null]);
      for (const id of others) {
        const { sid, device } = (await store.find(id)) ?? {};
        assert.deepEqual([sid, device], [`new of ${id}`, null]);
      }
      for (const id of TEN) {
        assert.deepEqual((await store.supersession(id, `old of ${id}`))?.by, from(id));
        assert.equal(await store.supersession(id, `old of ${id === first ? second : first}`), null);
      }
    });

    test("exactly one of several parallel logins finds no earlier session", async (t) => {
      const store = await open(t);
      const sids = Array.from({ length: 50 }, (_, i) => `s-${i}`);
      const replaced = await Promise.all(sids.map((sid) => store.replace("1", sid, 60)));
      assert.equal(replaced.filter(({ wasLive }) => !wasLive).length, 1);
    });

    test("the races of authserve selftest break no session", async (t) => {
      const results = await runSessionRaces([await open(t)], "1", { logins: 1, logouts: 200, renewals: 200, reads: 1 });
      assert.equal(results.length, 5);
      assert.deepEqual(
        results.filter(({ broken }) => broken > 0),
        [],
      );
    });

    test("a check of a working store succeeds", async (t) => {
      const store = await open(t);
      await store.check("1");
    });
  });
}
