import assert from "node:assert/strict";
import { test } from "node:test";
import { openDatabase } from "../../src/sqlite/database.ts";
import { createSqliteSessionStore } from "../../src/sqlite/sessions.ts";
import { localStores } from "../../src/sqlite/stores.ts";
import { loginOf } from "../contract/factor-store.ts";
import { loginNotesContract } from "../contract/login-notes.ts";
import { sessionStoreContract } from "../contract/session-store.ts";
import { tempDatabase } from "../helpers/database.ts";
import { failsWith } from "../helpers/fails-with.ts";

sessionStoreContract("embedded", async (t) => createSqliteSessionStore(tempDatabase(t).database));
loginNotesContract("embedded", async (t) => {
  const { database } = tempDatabase(t);
  const { sessions, factors, throttle } = localStores(database);
  return { sessions, factors, throttle, breakList: async () => void database.exec("DROP TABLE logins") };
});

test("a login that cannot be stored changes nothing: the earlier session stays", async (t) => {
  const { database } = tempDatabase(t);
  const store = createSqliteSessionStore(database);
  await store.replace("1", "a", 60);
  // As a full disk does.
  database.exec("CREATE TRIGGER full BEFORE INSERT ON logins BEGIN SELECT RAISE(ROLLBACK, 'full'); END");
  await assert.rejects(store.replace("1", "b", 60, undefined, { login: loginOf("b"), account: "", knownBucket: null }));
  assert.equal(await store.current("1"), "a");
});

test("a session outlives a restart", async (t) => {
  const { database, dataDir } = tempDatabase(t);
  await createSqliteSessionStore(database).replace("1", "a", 60);
  database.close();
  const reopened = openDatabase(dataDir);
  t.after(() => void reopened.close());
  assert.equal(await createSqliteSessionStore(reopened).current("1"), "a");
});

test("a revocation by another process is seen by the next read", async (t) => {
  const { database, dataDir } = tempDatabase(t);
  const store = createSqliteSessionStore(database);
  await store.replace("1", "a", 60);
  const other = openDatabase(dataDir);
  t.after(() => void other.close());
  assert.equal(await createSqliteSessionStore(other).remove("1"), true);
  assert.equal(await store.current("1"), null);
});

test("a session ends exactly at its lifetime, to the millisecond", async (t) => {
  const clock = { now: 1_800_000_000_000 };
  const store = createSqliteSessionStore(tempDatabase(t).database, () => clock.now);
  await store.replace("1", "a", 900);
  clock.now += 899_999;
  assert.equal(await store.current("1"), "a");
  clock.now += 1;
  assert.equal(await store.current("1"), null);
});

test("a login on a database that another process locks is store_unavailable, and works after the lock", async (t) => {
  const { database, dataDir } = tempDatabase(t, { busyTimeoutMs: 20 });
  const store = createSqliteSessionStore(database);
  await store.replace("1", "a", 60);
  const other = openDatabase(dataDir);
  t.after(() => void other.close());
  other.exec("BEGIN IMMEDIATE");
  await failsWith("store_unavailable", store.replace("1", "b", 60));
  await failsWith("store_unavailable", store.removeIf("1", "a"));
  assert.equal(await store.current("1"), "a");
  other.exec("ROLLBACK");
  assert.equal((await store.replace("1", "b", 60)).wasLive, true);
});

test("a database without its table is store_unavailable", async (t) => {
  const { database } = tempDatabase(t);
  const store = createSqliteSessionStore(database);
  database.exec("DROP TABLE sessions");
  await failsWith("store_unavailable", store.current("1"));
  await failsWith("store_unavailable", store.check("1"));
});
