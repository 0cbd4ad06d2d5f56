import assert from "node:assert/strict";
import { test } from "node:test";
import { createSqliteSessionStore } from "../../src/sqlite/sessions.ts";
import { supersessionContract } from "../contract/supersession.ts";
import { tempDatabase } from "../helpers/database.ts";

const HOME = { network: "203.0.113.0/24", userAgent: "Firefox" };

supersessionContract("embedded", async (t) => createSqliteSessionStore(tempDatabase(t).database));

test("the SQLite store deletes supersessions whose tokens have expired", async (t) => {
  const clock = { now: 1_800_000_000_000 };
  const { database } = tempDatabase(t);
  const store = createSqliteSessionStore(database, () => clock.now);
  const kept = () => database.prepare("SELECT count(*) FROM supersessions").pluck().get();
  for (let i = 0; i < 20; i++) await store.replace("1", `s-${i}`, 60, HOME);
  assert.equal(kept(), 19);
  clock.now += 60_000;
  await store.replace("1", "later", 60, HOME);
  assert.equal(kept(), 0);
});
