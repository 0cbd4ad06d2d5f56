import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { STALE_ATTEMPT_MS, type ThrottleStore, WINDOW_MS } from "../../src/auth/throttle/store.ts";
import { createPostgresThrottleStore } from "../../src/postgres/throttle.ts";
import { knownAddressContract } from "../contract/known-address.ts";
import { throttleCountsContract } from "../contract/throttle-counts.ts";
import { throttleStoreContract } from "../contract/throttle-store.ts";
import { needsPostgres } from "../helpers/back-end.ts";
import { failsWith } from "../helpers/fails-with.ts";
import { openPostgres, tempPostgres } from "../helpers/postgres.ts";
import type { Cleanup } from "../helpers/temp-dir.ts";

const NOW = 1_800_000_000_000;
const ONE = [{ bucket: "a", limit: 1 }];

const open = async (t: Cleanup) => createPostgresThrottleStore((await tempPostgres(t)).postgres);

suite("the throttle on PostgreSQL", needsPostgres(), () => {
  throttleStoreContract("PostgreSQL", open);
  throttleCountsContract("PostgreSQL", open);
  knownAddressContract("PostgreSQL", open);

  test("is shared by all processes: parallel reservations never exceed the limit", async (t) => {
    const { url } = await tempPostgres(t);
    const stores = [1, 2].map(() => createPostgresThrottleStore(openPostgres(t, url)));
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
    const { url } = await tempPostgres(t);
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

  test("a failure that could not be written is written before the next attempt", async (t) => {
    const { postgres, url } = await tempPostgres(t);
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
