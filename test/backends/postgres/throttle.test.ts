import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { STALE_ATTEMPT_MS, type ThrottleStore, WINDOW_MS } from "../../../src/auth/throttle/store.ts";
import type { Postgres } from "../../../src/postgres/connection.ts";
import { createPostgresThrottleStore } from "../../../src/postgres/throttle.ts";
import { knownAddressContract } from "../../contract/known-address.ts";
import { throttleCountsContract } from "../../contract/throttle-counts.ts";
import { throttleStoreContract } from "../../contract/throttle-store.ts";
import { needsPostgres } from "../../helpers/back-end.ts";
import { failsWith } from "../../helpers/fails-with.ts";
import { openPostgres, reusedPostgres } from "../../helpers/postgres.ts";
import type { Cleanup } from "../../helpers/temp-dir.ts";
import { until } from "../../helpers/until.ts";

const NOW = 1_800_000_000_000;
const ONE = [{ bucket: "a", limit: 1 }];

const open = async (t: Cleanup) => createPostgresThrottleStore((await reusedPostgres(t)).postgres);

/** Statements in this database that wait for a lock. */
const WAITING = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;

/** The stores of two servers on one database. */
const openTwo = (t: Cleanup, url: string) =>
  [openPostgres(t, url), openPostgres(t, url)].map((postgres) => createPostgresThrottleStore(postgres)) as [
    ThrottleStore,
    ThrottleStore,
  ];

/** A wrong guess. Returns whether it was allowed. */
async function failAt(store: ThrottleStore, now: number, bucket = "pair") {
  const reservation = await store.reserve([{ bucket, limit: 10 }], now);
  if (reservation.outcome === "reserved") await store.fail(reservation.ids, now);
  return reservation.outcome;
}

suite("the throttle on PostgreSQL", needsPostgres(), () => {
  throttleStoreContract("PostgreSQL", open);
  throttleCountsContract("PostgreSQL", open);
  knownAddressContract("PostgreSQL", open);

  test("is shared by all processes: parallel reservations never exceed the limit", async (t) => {
    const { url } = await reusedPostgres(t);
    const stores = openTwo(t, url);
    const buckets = [
      { bucket: "pair", limit: 10 },
      { bucket: "email", limit: 100 },
    ];
    const outcomes = await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        // The order of the buckets differs, too.
        (stores[index % 2] as ThrottleStore).reserve(index % 3 ? buckets : buckets.toReversed(), NOW),
      ),
    );
    assert.equal(outcomes.filter(({ outcome }) => outcome === "reserved").length, 10);
  });

  test("releases the places of a killed process of the same server, and no others", async (t) => {
    const { url } = await reusedPostgres(t);
    const as = (server: string) => createPostgresThrottleStore(openPostgres(t, url), server);
    const two = [{ bucket: "a", limit: 2 }];
    assert.equal((await as("one").reserve(two, NOW)).outcome, "reserved");
    assert.equal((await as("other").reserve(two, NOW)).outcome, "reserved");
    assert.equal((await as("another").reserve(two, NOW)).outcome, "wait");
    const again = as("one");
    assert.equal(await again.retryAfterMs(two, NOW), 0);
    assert.equal((await again.reserve(two, NOW)).outcome, "reserved");
    assert.equal((await again.reserve(two, NOW)).outcome, "wait");
    assert.equal(await again.failures("a", NOW + STALE_ATTEMPT_MS), 2);
  });

  test("shares failures and known addresses between processes", async (t) => {
    const { url } = await reusedPostgres(t);
    const [one, other] = openTwo(t, url);
    const reservation = await one.reserve(ONE, NOW);
    await one.fail(reservation.outcome === "reserved" ? reservation.ids : [], NOW);
    assert.equal(await other.retryAfterMs(ONE, NOW), WINDOW_MS);
    await one.remember("a", NOW);
    assert.equal(await other.isKnown("a", NOW), true);
  });

  test("twenty parallel attempts at two servers take the ten places", async (t) => {
    const { url } = await reusedPostgres(t);
    const stores = openTwo(t, url);
    const attempts = Array.from({ length: 20 }, (_, n) =>
      (stores[n % 2] as ThrottleStore).reserve([{ bucket: "a", limit: 10 }], NOW),
    );
    const outcomes = (await Promise.all(attempts)).map(({ outcome }) => outcome);
    assert.equal(outcomes.filter((outcome) => outcome === "reserved").length, 10);
    assert.equal(outcomes.filter((outcome) => outcome === "wait").length, 10);
  });

  for (const [what, skewMs, laterMs] of [
    ["six minutes ahead", 6 * 60_000, 0],
    ["55 s ahead", 55_000, 251_000],
    ["six minutes behind", -6 * 60_000, 0],
  ] as const) {
    test(`keeps a server's failures when another server's clock is ${what}`, async (t) => {
      const { url } = await reusedPostgres(t);
      const [one, other] = openTwo(t, url);
      for (let i = 0; i < 10; i++) assert.equal(await failAt(one, NOW), "reserved");
      await failAt(other, NOW + laterMs + skewMs);
      await failAt(other, NOW + laterMs + skewMs, "another");
      assert.equal(await failAt(one, NOW + laterMs), "throttled");
    });
  }

  test("removes old failures and empty buckets, so that a flood does not stay in the database", async (t) => {
    const { postgres } = await reusedPostgres(t);
    const store = createPostgresThrottleStore(postgres);
    const rows = async (table: string) =>
      (await postgres.rows<{ count: number }>(`SELECT count(*) FROM authserve.${table}`))[0]?.count;
    for (let i = 0; i < 50; i++) {
      await failAt(store, NOW, `failed-${i}`);
      const reservation = await store.reserve([{ bucket: `released-${i}`, limit: 1 }], NOW);
      await store.release(reservation.outcome === "reserved" ? reservation.ids : []);
    }
    assert.equal(await rows("login_places"), 50);
    const later = NOW + 60 * 60_000;
    for (let i = 0; i < 20; i++) await failAt(store, later, "later");
    assert.deepEqual([await rows("login_places"), await rows("login_buckets")], [10, 1]);
  });

  test("locks a bucket that another server removes at the same time", async (t) => {
    const { postgres, url } = await reusedPostgres(t);
    const store = createPostgresThrottleStore(postgres);
    await postgres.run("INSERT INTO authserve.login_buckets VALUES ('a')");
    const attempt = await openPostgres(t, url).transaction(async (other) => {
      await other.rows("SELECT 1 FROM authserve.login_buckets FOR UPDATE");
      const reserved = store.reserve(ONE, NOW);
      await until(async () => (await postgres.rows(WAITING)).length > 0);
      await other.run("DELETE FROM authserve.login_buckets");
      return { reserved };
    });
    assert.equal((await attempt.reserved).outcome, "reserved");
    assert.deepEqual(await postgres.rows("SELECT bucket FROM authserve.login_buckets"), [{ bucket: "a" }]);
  });

  test("parallel attempts do not deadlock while their buckets become empty and are removed", async (t) => {
    const { url } = await reusedPostgres(t);
    const runs = { asked: 0, started: 0 };
    const stores = [1, 2].map(() => {
      const postgres = openPostgres(t, url, { poolSize: 8 });
      // A transaction that deadlocks is started again.
      const transaction: Postgres["transaction"] = (statements) => {
        runs.asked++;
        return postgres.transaction((queries) => {
          runs.started++;
          return statements(queries);
        });
      };
      return createPostgresThrottleStore({ ...postgres, transaction });
    });
    async function attempts(worker: number): Promise<void> {
      const store = stores[worker % 2] as ThrottleStore;
      for (let n = 0; n < 20; n++) {
        const names = new Set([1, 5, 7].map((step) => `k${(worker + step * n) % 12}`));
        const reservation = await store.reserve(
          [...names].map((bucket) => ({ bucket, limit: 100 })),
          NOW,
        );
        await store.release(reservation.outcome === "reserved" ? reservation.ids : []);
      }
    }
    await Promise.all(Array.from({ length: 16 }, (_, worker) => attempts(worker)));
    assert.deepEqual(runs, { asked: 320, started: 320 });
  });

  test("a failure that could not be written is written before the next attempt", async (t) => {
    const { postgres, url } = await reusedPostgres(t);
    let isAway = false;
    const store = createPostgresThrottleStore({
      ...postgres,
      run: (text, values) =>
        isAway ? openPostgres(t, url.replace(/:\d+\//, ":1/")).run(text, values) : postgres.run(text, values),
    });
    const reservation = await store.reserve(ONE, NOW);
    assert.equal(reservation.outcome, "reserved");
    isAway = true;
    await failsWith("store_unavailable", store.fail(reservation.outcome === "reserved" ? reservation.ids : [], NOW));
    await failsWith("store_unavailable", store.reserve(ONE, NOW));
    isAway = false;
    assert.deepEqual(await store.reserve(ONE, NOW), { outcome: "throttled", retryAfterMs: WINDOW_MS });
  });
});
