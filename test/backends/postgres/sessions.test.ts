import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { onPostgres } from "../../../src/postgres/queries.ts";
import { createPostgresSessionStore } from "../../../src/postgres/sessions.ts";
import { createPostgresThrottleStore } from "../../../src/postgres/throttle.ts";
import { factorStore } from "../../../src/storage/factors.ts";
import { loginNotesContract } from "../../contract/login-notes.ts";
import { sessionStoreContract } from "../../contract/session-store.ts";
import { supersessionContract } from "../../contract/supersession.ts";
import { needsPostgres } from "../../helpers/back-end.ts";
import { failsWith } from "../../helpers/fails-with.ts";
import { openPostgres, reusedPostgres, tempPostgres } from "../../helpers/postgres.ts";
import type { Cleanup } from "../../helpers/temp-dir.ts";
import { runSessionRaces } from "../../selftest/session-races.ts";

const open = async (t: Cleanup) => createPostgresSessionStore((await reusedPostgres(t)).postgres);

/** The stores of two servers on one database. */
async function openTwo(t: Cleanup) {
  const { url } = await reusedPostgres(t);
  return [openPostgres(t, url), openPostgres(t, url)].map(createPostgresSessionStore) as [
    ReturnType<typeof createPostgresSessionStore>,
    ReturnType<typeof createPostgresSessionStore>,
  ];
}

const HOME = { network: "203.0.113.0/24", userAgent: "Firefox" };

suite("sessions on PostgreSQL", needsPostgres(), () => {
  sessionStoreContract("PostgreSQL", open);
  supersessionContract("PostgreSQL", open);
  loginNotesContract("PostgreSQL", async (t) => {
    const { postgres } = await tempPostgres(t);
    const breakList = async () => void (await postgres.run("DROP TABLE authserve.logins"));
    return {
      sessions: createPostgresSessionStore(postgres),
      factors: onPostgres(postgres, factorStore),
      throttle: createPostgresThrottleStore(postgres),
      breakList,
    };
  });

  test("two servers that race leave one session, and revive none", async (t) => {
    const [one, other] = await openTwo(t);
    const results = await runSessionRaces([one, other], "racer", {
      logins: 20,
      logouts: 100,
      renewals: 100,
      reads: 20,
    });
    assert.deepEqual(
      results.filter(({ broken }) => broken > 0),
      [],
    );
  });

  test("of parallel logins at two servers each but the last has the login that superseded it", async (t) => {
    const [one, other] = await openTwo(t);
    for (let round = 0; round < 20; round++) {
      const sids = Array.from({ length: 10 }, (_, n) => `${round}-${n}`);
      await Promise.all(sids.map((sid, n) => (n % 2 ? one : other).replace("1", sid, 60, HOME)));
      const known = await Promise.all(sids.map((sid) => one.supersession("1", sid)));
      const current = await other.current("1");
      assert.deepEqual(
        sids.filter((_, n) => known[n] === null),
        [current],
      );
    }
  });

  test("of parallel first logins of a user one replaces nobody", async (t) => {
    const [one, other] = await openTwo(t);
    for (let round = 0; round < 20; round++) {
      const logins = Array.from({ length: 6 }, (_, n) =>
        (n % 2 ? one : other).replace(`user-${round}`, `sid-${n}`, 60),
      );
      const replaced = await Promise.all(logins);
      assert.equal(replaced.filter(({ wasLive }) => !wasLive).length, 1);
    }
  });

  test("a server with the earlier password neither sees nor prolongs sessions of the new one", async (t) => {
    const [old, renewed] = await openTwo(t);
    await old.bind("1", "old");
    await old.replace("1", "a", 60);
    assert.equal(await renewed.bind("1", "new"), true);
    await renewed.replace("1", "b", 60);
    assert.deepEqual([await old.current("1"), await old.extendIf("1", "b", 900)], [null, false]);
    assert.equal(await renewed.current("1"), "b");
    await old.replace("1", "c", 60);
    assert.equal(await renewed.current("1"), null);
  });

  test("a user's credential does not affect other users", async (t) => {
    const [one, other] = await openTwo(t);
    await other.bind("2", "of the other");
    await other.replace("2", "b", 60);
    await one.bind("1", "of the one");
    assert.equal(await one.current("2"), "b");
    await one.replace("2", "c", 60);
    assert.equal(await other.current("2"), "c");
  });

  test("a login removes the supersessions that have ended, and no others", async (t) => {
    const { postgres } = await reusedPostgres(t);
    const store = createPostgresSessionStore(postgres);
    for (const sid of ["a", "b", "c"]) await store.replace("1", sid, 60, HOME);
    await postgres.run("UPDATE authserve.supersessions SET expires_at = 1 WHERE sid = 'a'");
    await store.replace("2", "d", 60);
    const left = await postgres.rows("SELECT sid FROM authserve.supersessions");
    assert.deepEqual(left, [{ sid: "b" }]);
  });

  test("a check fails while the database takes no writes, also for a user without a row", async (t) => {
    const { url } = await reusedPostgres(t);
    const postgres = openPostgres(t, url, { poolSize: 1 });
    const store = createPostgresSessionStore(postgres);
    await store.replace("1", "a", 60);
    for (const user of ["1", "nobody"]) {
      // Of the one connection, which is closed after the refusal.
      await postgres.run("SET default_transaction_read_only = on");
      await failsWith("store_unavailable", store.check(user));
      await store.check(user);
    }
  });
});
