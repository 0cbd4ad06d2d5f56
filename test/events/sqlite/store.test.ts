import assert from "node:assert/strict";
import { suite, test } from "node:test";
import * as sql from "../../../src/events/sqlite/sql.ts";
import { createSqliteEventStore } from "../../../src/events/sqlite/store.ts";
import type { EventFilter } from "../../../src/events/store.ts";
import { type Database, openDatabase } from "../../../src/sqlite/database.ts";
import { eventStoreContract } from "../../contract/event-store.ts";
import { tempDatabase } from "../../helpers/database.ts";
import { claim, NOW, newEvent } from "../../helpers/events.ts";
import { failsWith } from "../../helpers/fails-with.ts";

eventStoreContract("SQLite", async (t) => createSqliteEventStore(tempDatabase(t).database));

/** How SQLite would run a statement. */
function planOf(database: Database, text: string): string {
  const byPosition = text.replaceAll(/@[A-Za-z0-9]+/g, "?");
  const values = [...byPosition.matchAll(/\?/g)].map(() => 1);
  const rows = database.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${byPosition}`).all(values);
  return rows.map(({ detail }) => detail).join("\n");
}

suite("on SQLite", () => {
  const filters: Record<string, Omit<EventFilter, "limit">> = {
    everything: {},
    "a queued status": { status: "queued" },
    "a processed status": { status: "processed" },
    "a type": { type: "a" },
    "a source": { source: "a" },
    "a time": { since: 1 },
    "a type since a time": { type: "a", since: 1 },
    "all filters": { status: "queued", type: "a", source: "a", since: 1 },
  };
  for (const [what, filter] of Object.entries(filters)) {
    test(`a list by ${what} reads an index in its order and sorts nothing`, (t) => {
      const { database } = tempDatabase(t);
      const claimed = planOf(database, sql.listClaimedStatement({ ...filter, limit: 1 }));
      assert.match(claimed, /USING INDEX events_(?:received|by_type|by_source|unprocessed)/);
      const unclaimed = planOf(database, sql.listUnclaimedStatement({ ...filter, limit: 1 }));
      assert.match(unclaimed, /USING INDEX events_due/);
      for (const plan of [claimed, unclaimed]) assert.doesNotMatch(plan, /TEMP B-TREE/);
    });
  }

  test("a claim reads the index of what is due and sorts nothing", (t) => {
    const plan = planOf(tempDatabase(t).database, sql.DUE);
    assert.match(plan, /SEARCH events USING INDEX events_due \(due_at</);
    assert.doesNotMatch(plan, /TEMP B-TREE/);
  });

  test("a replay of all dead letters walks them in their order and sorts nothing", (t) => {
    const plan = planOf(tempDatabase(t).database, sql.NEXT_DEAD_LETTERS);
    assert.match(plan, /SEARCH dead_letters USING INTEGER PRIMARY KEY \(rowid>\? AND rowid<\?\)/);
    assert.doesNotMatch(plan, /SCAN events|TEMP B-TREE/);
  });

  test("an event is looked up by its identity, and its history by the event", (t) => {
    const { database } = tempDatabase(t);
    assert.match(planOf(database, sql.STORED_PAYLOAD), /events_identity \(event_id=\? AND source=\?\)/);
    assert.match(planOf(database, sql.GET), /events_identity \(event_id=\?\)/);
  });

  test("events and leases outlive the process", async (t) => {
    const { database, dataDir } = tempDatabase(t);
    const store = createSqliteEventStore(database);
    await store.append([newEvent()]);
    await claim(store);
    database.close();
    const reopened = openDatabase(dataDir);
    t.after(() => void reopened.close());
    const [event] = await createSqliteEventStore(reopened).get("e-1");
    assert.deepEqual([event?.attempts, event?.leased], [1, true]);
  });

  test("another connection's write lock is store_unavailable, nothing is changed, and then all is well", async (t) => {
    const { database, dataDir } = tempDatabase(t, { busyTimeoutMs: 20 });
    const store = createSqliteEventStore(database);
    await store.append([newEvent()]);
    const other = openDatabase(dataDir);
    t.after(() => void other.close());
    other.exec("BEGIN IMMEDIATE");
    const error = await failsWith("store_unavailable", store.append([newEvent({ eventId: "e-2" })]));
    assert.ok(Number.isInteger(error.retryAfterSeconds));
    await failsWith("store_unavailable", claim(store));
    await failsWith("store_unavailable", store.replayDeadLetters(NOW));
    other.exec("ROLLBACK");
    assert.equal((await store.counts()).queued, 1);
    assert.deepEqual(await store.append([newEvent({ eventId: "e-2" })]), [{ duplicate: false, conflict: false }]);
  });

  test("an idle poll waits for no lock", async (t) => {
    const { database, dataDir } = tempDatabase(t, { busyTimeoutMs: 20 });
    const store = createSqliteEventStore(database);
    const other = openDatabase(dataDir);
    t.after(() => void other.close());
    other.exec("BEGIN IMMEDIATE");
    assert.deepEqual((await claim(store)).claimed, []);
    other.exec("ROLLBACK");
  });

  test("a full disk is store_unavailable, nothing of the batch is stored, and what was there stays", async (t) => {
    const { database } = tempDatabase(t);
    const store = createSqliteEventStore(database);
    await store.append([newEvent({ eventId: "before" })]);
    const pages = database.pragma("page_count", { simple: true }) as number;
    database.pragma(`max_page_count = ${pages + 4}`);
    const batch = ["small", "large"].map((eventId) =>
      newEvent({ eventId, payload: Buffer.alloc(eventId === "large" ? 100_000 : 10, "x") }),
    );
    await failsWith("store_unavailable", store.append(batch));
    assert.deepEqual(
      (await store.list({ limit: 10 })).map(({ eventId }) => eventId),
      ["before"],
    );
    database.pragma("max_page_count = 1000000");
    assert.equal((await store.append(batch)).length, 2);
  });
});
