import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { runSessionRaces } from "../../src/auth/session-races.ts";
import { createPostgresSessionStore } from "../../src/postgres/sessions.ts";
import { sessionStoreContract } from "../contract/session-store.ts";
import { supersessionContract } from "../contract/supersession.ts";
import { needsPostgres } from "../helpers/back-end.ts";
import { openPostgres, tempPostgres } from "../helpers/postgres.ts";
import type { Cleanup } from "../helpers/temp-dir.ts";

const open = async (t: Cleanup) => createPostgresSessionStore((await tempPostgres(t)).postgres);

/** The stores of two servers on one database. */
async function openTwo(t: Cleanup) {
  const { url } = await tempPostgres(t);
  return [openPostgres(t, url), openPostgres(t, url)].map(createPostgresSessionStore) as [
    ReturnType<typeof createPostgresSessionStore>,
    ReturnType<typeof createPostgresSessionStore>,
  ];
}

suite("sessions on PostgreSQL", needsPostgres(), () => {
  sessionStoreContract("PostgreSQL", open);
  supersessionContract("PostgreSQL", open);

  test("two servers that race leave one session, and each login learns whom it superseded", async (t) => {
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

  test("of parallel first logins of a user one replaces nobody", async (t) => {
    const [one, other] = await openTwo(t);
    for (let round = 0; round < 20; round++) {
      const logins = Array.from({ length: 6 }, (_, n) =>
        (n % 2 ? one : other).replace(`user-${round}`, `sid-${n}`, 60),
      );
      const replaced = await Promise.all(logins);
      assert.equal(replaced.filter((wasLive) => !wasLive).length, 1);
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
});
