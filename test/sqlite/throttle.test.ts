import assert from "node:assert/strict";
import { test } from "node:test";
import { KNOWN_ADDRESS_MS, STALE_ATTEMPT_MS, WINDOW_MS } from "../../src/auth/throttle/store.ts";
import { openDatabase } from "../../src/sqlite/database.ts";
import { createSqliteThrottleStore } from "../../src/sqlite/throttle.ts";
import { knownAddressContract } from "../contract/known-address.ts";
import { throttleStoreContract } from "../contract/throttle-store.ts";
import { tempDatabase } from "../helpers/database.ts";
import { failsWith } from "../helpers/fails-with.ts";

const NOW = 1_800_000_000_000;

throttleStoreContract("SQLite", async (t) => createSqliteThrottleStore(tempDatabase(t).database));
knownAddressContract("SQLite", async (t) => createSqliteThrottleStore(tempDatabase(t).database));

test("failures outlive a restart", async (t) => {
  const { database, dataDir } = tempDatabase(t);
  const store = createSqliteThrottleStore(database);
  const reservation = await store.reserve([{ bucket: "a", limit: 1 }], NOW);
  assert.equal(reservation.outcome, "reserved");
  if (reservation.outcome === "reserved") await store.fail(reservation.ids, NOW);
  database.close();

  const reopened = openDatabase(dataDir);
  t.after(() => void reopened.close());
  assert.equal(await createSqliteThrottleStore(reopened).retryAfterMs([{ bucket: "a", limit: 1 }], NOW), WINDOW_MS);
});

test("failures outside the window are deleted, so that a flood does not stay on disk", async (t) => {
  const { database } = tempDatabase(t);
  const store = createSqliteThrottleStore(database);
  const rows = () => database.prepare("SELECT count(*) FROM login_failures").pluck().get();
  const failAt = async (bucket: string, at: number) => {
    const reservation = await store.reserve([{ bucket, limit: 10 }], at);
    assert.equal(reservation.outcome, "reserved");
    await store.fail(reservation.ids, at);
  };
  for (let i = 0; i < 250; i++) await failAt(`b${i}`, NOW);
  assert.equal(rows(), 250);
  for (let i = 0; i < 3; i++) await failAt("later", NOW + WINDOW_MS);
  assert.equal(rows(), 3);
});

test("a database that another process locks is store_unavailable, and works after the lock", async (t) => {
  const { database, dataDir } = tempDatabase(t, { busyTimeoutMs: 20 });
  const store = createSqliteThrottleStore(database);
  const other = openDatabase(dataDir);
  t.after(() => void other.close());
  const reservation = await store.reserve([{ bucket: "a", limit: 1 }], NOW);
  assert.equal(reservation.outcome, "reserved");
  other.exec("BEGIN IMMEDIATE");
  await failsWith("store_unavailable", store.fail(reservation.ids, NOW));
  // No attempt is allowed while a failure is not yet written.
  await failsWith("store_unavailable", store.reserve([{ bucket: "a", limit: 1 }], NOW));
  await failsWith("store_unavailable", store.retryAfterMs([{ bucket: "b", limit: 1 }], NOW));
  other.exec("ROLLBACK");
  assert.equal((await store.reserve([{ bucket: "a", limit: 1 }], NOW)).outcome, "throttled");
  assert.equal(await store.failures("a", NOW), 1);
  assert.equal((await store.reserve([{ bucket: "b", limit: 1 }], NOW)).outcome, "reserved");
});

test("an attempt that never ended counts as one failure, even with concurrent calls", async (t) => {
  const store = createSqliteThrottleStore(tempDatabase(t).database);
  const bucket = { bucket: "a", limit: 10 };
  await store.reserve([bucket], NOW);
  await Promise.all(Array.from({ length: 12 }, () => store.retryAfterMs([bucket], NOW + STALE_ATTEMPT_MS)));
  assert.equal(await store.failures("a", NOW + STALE_ATTEMPT_MS), 1);
});

test("an address that has not logged in for 30 days is forgotten", async (t) => {
  const { database } = tempDatabase(t);
  const store = createSqliteThrottleStore(database);
  const known = () => database.prepare("SELECT bucket FROM known_addresses ORDER BY bucket").pluck().all();
  await store.remember("old", NOW);
  await store.remember("a", NOW + KNOWN_ADDRESS_MS);
  assert.deepEqual(known(), ["a", "old"]);
  await store.remember("b", NOW + KNOWN_ADDRESS_MS + 1);
  assert.deepEqual(known(), ["a", "b"]);
});
