import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { EventFilter } from "../../src/events/store.ts";
import { type Database, openDatabase } from "../../src/sqlite/database.ts";
import { type SqliteEvents, sqliteEvents } from "../../src/sqlite/events.ts";
import * as lists from "../../src/sqlite/lists-sql.ts";
import { localStores } from "../../src/sqlite/stores.ts";
import { eventStoreContract } from "../contract/event-store.ts";
import { statementWith, tempDatabase } from "../helpers/database.ts";
import { claim, claimOf, claimOne, eventAndJob, fanOut, NOW, newEvent } from "../helpers/events.ts";
import { failsWith } from "../helpers/fails-with.ts";
import type { Cleanup } from "../helpers/temp-dir.ts";

eventStoreContract("SQLite", async (t) => localStores(tempDatabase(t).database).events);

/** SQLite's query plan of a statement. */
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
    "a failed status": { status: "failed" },
    "a processed status": { status: "processed" },
    "a type": { type: "a" },
    "a source": { source: "a" },
    "a time": { since: 1 },
    "a type since a time": { type: "a", since: 1 },
    "all filters": { status: "queued", type: "a", source: "a", since: 1 },
  };
  for (const [what, filter] of Object.entries(filters)) {
    test(`a list by ${what} reads an index in order and does not sort`, (t) => {
      const { database } = tempDatabase(t);
      for (const statement of [lists.listPendingStatement, lists.listRoutedStatement]) {
        const plan = planOf(database, statement({ ...filter, limit: 1 }));
        assert.match(plan, /(?:SEARCH|SCAN) (?:events|contents|jobs|listed)(?: USING|$) /);
        assert.doesNotMatch(plan, /TEMP B-TREE/);
      }
    });
  }

  test("a claim reads the index of due jobs and does not sort", (t) => {
    const { database } = tempDatabase(t);
    const plan = planOf(database, statementWith(database, "FROM jobs WHERE route = +? AND due_at <= +?"));
    assert.match(plan, /SEARCH jobs USING INDEX jobs_due \(route=\? AND due_at</);
    assert.doesNotMatch(plan, /TEMP B-TREE/);
  });

  test("a replay or discard of many reads open jobs in order and does not sort", (t) => {
    const { database } = tempDatabase(t);
    const count = (store: SqliteEvents) => store.count({ status: "failed" }, { limit: 1 });
    const plan = planOf(database, statementWith(database, "AND event > ? AND event <= ? ORDER BY event", count));
    assert.match(plan, /SEARCH jobs USING INDEX jobs_open \(status=\? AND event>\? AND event<\?\)/);
    assert.doesNotMatch(plan, /TEMP B-TREE/);
  });

  test("a purge reads events and ids in order and does not sort", (t) => {
    const { database } = tempDatabase(t);
    for (const part of ["contents.event <= ? ORDER BY contents.event", "id < (SELECT max(id) FROM events)"]) {
      const plan = planOf(database, statementWith(database, part));
      assert.match(plan, /SEARCH (?:contents|events) USING INTEGER PRIMARY KEY \(rowid>\? AND rowid<\?\)/);
      assert.doesNotMatch(plan, /TEMP B-TREE/);
    }
  });

  test("an event is found by an index on its identity, and its history by one on the event", (t) => {
    const { database } = tempDatabase(t);
    const get = (store: SqliteEvents) => store.get("e-1");
    const plan = (part: string) => planOf(database, statementWith(database, part, get));
    assert.match(plan("events LEFT JOIN contents"), /events_identity \(event_id=\? AND source=\?\)/);
    assert.match(plan("WHERE event_id = ? AND (? IS NULL"), /events_identity \(event_id=\?\)/);
  });

  test("events and leases outlive the process", async (t) => {
    const { database, dataDir } = tempDatabase(t);
    const store = localStores(database).events;
    await store.append([newEvent()]);
    await claim(store);
    database.close();
    const reopened = openDatabase(dataDir);
    t.after(() => void reopened.close());
    const event = await eventAndJob(localStores(reopened).events, "e-1");
    assert.deepEqual([event?.attempts, event?.leased], [1, true]);
  });

  test("another connection's write lock is store_unavailable, changes nothing, and is recovered from", async (t) => {
    const { database, dataDir } = tempDatabase(t, { busyTimeoutMs: 20 });
    const store = localStores(database).events;
    await store.append([newEvent()]);
    const other = openDatabase(dataDir);
    t.after(() => void other.close());
    other.exec("BEGIN IMMEDIATE");
    const error = await failsWith("store_unavailable", store.append([newEvent({ eventId: "e-2" })]));
    assert.ok(Number.isInteger(error.retryAfterSeconds));
    await failsWith("store_unavailable", claim(store));
    await failsWith("store_unavailable", store.replay({ eventId: "e-1", source: "default" }, NOW));
    other.exec("ROLLBACK");
    assert.equal((await store.backlog()).queued, 1);
    assert.deepEqual(await store.append([newEvent({ eventId: "e-2" })]), [{ duplicate: false, conflict: false }]);
  });

  test("an idle poll waits for no lock", async (t) => {
    const { database, dataDir } = tempDatabase(t, { busyTimeoutMs: 20 });
    const store = localStores(database).events;
    const other = openDatabase(dataDir);
    t.after(() => void other.close());
    other.exec("BEGIN IMMEDIATE");
    assert.deepEqual([await store.pending(10), (await claim(store)).claimed], [[], []]);
    other.exec("ROLLBACK");
  });

  test("a full disk is store_unavailable: nothing of the batch is stored, and earlier events are kept", async (t) => {
    const { database } = tempDatabase(t);
    const store = localStores(database).events;
    await store.append([newEvent({ eventId: "before" })]);
    const pages = database.pragma("page_count", { simple: true }) as number;
    database.pragma(`max_page_count = ${pages + 4}`);
    const batch = ["small", "large"].map((eventId) =>
      newEvent({ eventId, payload: Buffer.alloc(eventId === "large" ? 100_000 : 10, "x") }),
    );
    await failsWith("store_unavailable", store.append(batch));
    assert.deepEqual(
      (await store.list({ limit: 10 })).items.map(({ eventId }) => eventId),
      ["before"],
    );
    database.pragma("max_page_count = 1000000");
    assert.equal((await store.append(batch)).length, 2);
  });
});

/** A store, and the step of a server's start that ends stale leases. */
function starting(t: Cleanup) {
  const { database } = tempDatabase(t);
  return { store: localStores(database).events, releaseAll: sqliteEvents(database).releaseAll };
}

const idsOf = (events: readonly { eventId: string }[]) => events.map(({ eventId }) => eventId).join("");

suite("at a start", () => {
  test("leases of dead workers are ended", async (t) => {
    const { store, releaseAll } = starting(t);
    await store.append([newEvent({ eventId: "a" }), newEvent({ eventId: "b", receivedAt: NOW + 50 })]);
    await claimOne(store, { limit: 1 });
    assert.equal(releaseAll(NOW + 10), 1);
    const freed = await claimOne(store, { owner: "b", now: NOW + 10 });
    assert.deepEqual([freed.eventId, freed.attempt], ["a", 2]);
    assert.deepEqual((await claim(store, { owner: "b", now: NOW + 20 })).claimed, []);
  });

  test("a job that would wait longer than a day is made due: the clock was wrong when it was queued", async (t) => {
    const { store, releaseAll } = starting(t);
    const day = 24 * 3_600_000;
    await store.append([
      newEvent({ eventId: "far", receivedAt: NOW + 1000 * day }),
      newEvent({ eventId: "near", receivedAt: NOW + day }),
    ]);
    await fanOut(store);
    assert.equal(releaseAll(NOW), 1);
    assert.equal(idsOf((await store.list({ since: NOW + 2 * day, limit: 10 })).items), "far");
    assert.equal(idsOf((await claim(store, { limit: 2, now: NOW })).claimed), "far");
  });

  test("released jobs come before later ones, and ended leases are recorded as expired attempts", async (t) => {
    const { store, releaseAll } = starting(t);
    await store.append([newEvent({ eventId: "a" }), newEvent({ eventId: "b" })]);
    const [a, b] = (await claim(store, { limit: 2 })).claimed;
    assert.ok(a && b);
    await store.append([newEvent({ eventId: "later", receivedAt: NOW + 10 })]);
    await store.release([claimOf(b)], NOW + 20);
    assert.equal(releaseAll(NOW + 20), 1);
    const { claimed, expired } = await claim(store, { owner: "b", limit: 2, now: NOW + 20 });
    assert.deepEqual([idsOf(claimed), expired], ["b", 1]);
  });
});
