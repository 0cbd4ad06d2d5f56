import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { localStores } from "../../src/sqlite/stores.ts";
import { tempDatabase } from "../helpers/database.ts";
import { claim, claimOf, NOW, newEvent } from "../helpers/events.ts";

const EVENTS = 100;

test("a worker's statements are planned once, not at each use", async (t) => {
  const { database } = tempDatabase(t);
  const { events: store } = localStores(database);
  await store.append(Array.from({ length: EVENTS }, (_, index) => newEvent({ eventId: `e-${index}` })));
  // better-sqlite3 compiles a function that makes the rows of a statement each time SQLite plans it.
  const planned = mock.method(globalThis, "Function");
  t.after(() => planned.mock.restore());
  for (let left = EVENTS; left > 0; left -= 10) {
    const { claimed } = await claim(store);
    const end = { next: { to: "processed" as const }, startedAt: NOW, finishedAt: NOW, error: null };
    await store.settle(claimed.map((job) => ({ ...claimOf(job), ...end })));
  }
  const count = planned.mock.callCount();
  assert.ok(count > 0 && count < 10, `${count} plans`);
});
