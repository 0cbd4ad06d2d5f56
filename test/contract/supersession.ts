import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { SessionStore } from "../../src/auth/sessions.ts";
import type { Cleanup } from "../helpers/temp-dir.ts";
import { until } from "../helpers/until.ts";

const HOME = { network: "203.0.113.0/24", userAgent: "Firefox" };
const AWAY = { network: "2001:db8:1::/48", userAgent: null };

/**
 * The contract of supersessions in every session store. `open` returns an empty one, which is closed after the test.
 */
export function supersessionContract(adapter: string, open: (context: Cleanup) => Promise<SessionStore>): void {
  suite(`supersessions: ${adapter}`, () => {
    test("a supersession gives the time and the login, also after further logins", async (t) => {
      const store = await open(t);
      const before = Date.now();
      await store.replace("1", "a", 60, HOME);
      await store.replace("1", "b", 60, AWAY);
      await store.replace("1", "c", 60, HOME);
      const supersession = await store.supersession("1", "a");
      assert.deepEqual(supersession?.by, AWAY);
      const at = supersession?.at ?? 0;
      assert.ok(at >= before && at <= Date.now(), String(at));
      assert.deepEqual((await store.supersession("1", "b"))?.by, HOME);
    });

    test("a session that is live, logged out, revoked or unknown has none", async (t) => {
      const store = await open(t);
      await store.replace("1", "alive", 60, HOME);
      assert.equal(await store.supersession("1", "alive"), null);
      await store.removeIf("1", "alive");
      await store.replace("1", "revoked", 60, HOME);
      await store.remove("1");
      await store.replace("1", "now", 60, HOME);
      for (const sid of ["alive", "revoked", "now", "never"])
        assert.equal(await store.supersession("1", sid), null, sid);
      assert.equal(await store.supersession("2", "alive"), null);
    });

    test("a session that expired before the next login has none", async (t) => {
      const store = await open(t);
      await store.replace("1", "a", 1, HOME);
      await until(async () => (await store.current("1")) === null);
      await store.replace("1", "b", 60, HOME);
      assert.equal(await store.supersession("1", "a"), null);
    });

    test("a supersession ends with the lifetime of the superseded session", async (t) => {
      const store = await open(t);
      let round = 0;
      // On a machine that stalls, it may have ended when it is read.
      await until(async () => {
        round++;
        await store.replace("1", `a-${round}`, 1, HOME);
        await store.replace("1", `b-${round}`, 3600, HOME);
        return store.supersession("1", `a-${round}`);
      });
      await until(async () => (await store.supersession("1", `a-${round}`)) === null);
      assert.equal(await store.current("1"), `b-${round}`);
    });

    test("after parallel logins each superseded session has the login that replaced it", async (t) => {
      const store = await open(t);
      const sids = Array.from({ length: 50 }, (_, i) => `s-${i}`);
      await Promise.all(sids.map((sid) => store.replace("1", sid, 60, HOME)));
      const known = await Promise.all(sids.map((sid) => store.supersession("1", sid)));
      const current = await store.current("1");
      assert.deepEqual(
        sids.filter((_, i) => known[i] === null),
        [current],
      );
    });

    test("a session of an earlier credential ends when a new credential is bound", async (t) => {
      const store = await open(t);
      assert.equal(await store.bind("1", "first"), false);
      await store.replace("1", "a", 60, HOME);
      assert.equal(await store.bind("1", "first"), false);
      assert.equal(await store.current("1"), "a");
      assert.equal(await store.bind("1", "second"), true);
      assert.equal(await store.current("1"), null);
      assert.equal(await store.supersession("1", "a"), null);
      assert.equal(await store.bind("1", "second"), false);
    });
  });
}
