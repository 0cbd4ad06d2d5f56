import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { EventStore } from "../../src/events/store.ts";
import { databaseFile, openDatabase, openReader } from "../../src/sqlite/database.ts";
import { localStores } from "../../src/sqlite/stores.ts";
import { flipPageWith, overwrite } from "../helpers/damage.ts";
import { tempDatabase } from "../helpers/database.ts";
import { claim, eventAndJob, fanOut, NOW, newEvent, replayAll } from "../helpers/events.ts";
import { failsWith } from "../helpers/fails-with.ts";
import type { Cleanup } from "../helpers/temp-dir.ts";

// Each has several pages, so that no two events share a page.
const payloadOf = (eventId: string) => Buffer.from(`${eventId} `.repeat(4000));
const EVENTS = ["evt-a", "evt-b", "evt-c"];

/** A store with queued events in a file that is changed while it is closed. */
async function damagedStore(t: Cleanup, damage: (file: string) => void): Promise<EventStore> {
  const { database, dataDir } = tempDatabase(t);
  const { events } = localStores(database);
  await events.append(EVENTS.map((eventId) => newEvent({ eventId, payload: payloadOf(eventId) })));
  await fanOut(events);
  await events.close();
  damage(databaseFile(dataDir));
  const reopened = openDatabase(dataDir);
  const reader = openReader(reopened.name);
  t.after(() => {
    reader.close();
    reopened.close();
  });
  return localStores(reopened, reader).events;
}

const changeOneByte = (file: string) => overwrite(file, "evt-b evt-b", "evt-b eVt-b");
// The first page of the payload, which also has the headers.
const breakPage = (file: string) => flipPageWith(file, "evt-b evt-b");

suite("an event in a damaged page", () => {
  test("is set aside by its id when its checksum does not match, and other events are processed", async (t) => {
    const store = await damagedStore(t, changeOneByte);
    await store.check();
    const { claimed, unreadable } = await claim(store);
    assert.deepEqual(
      claimed.map(({ eventId }) => eventId),
      ["evt-a", "evt-c"],
    );
    const error = "the database is damaged: the stored bytes do not match their checksum";
    assert.deepEqual(unreadable, [{ event: 2, eventId: "evt-b", route: "default", error }]);
    const { failed, queued, unreadable: count } = await store.backlog();
    assert.deepEqual([failed, queued, count], [1, 2, 1]);
    const job = await eventAndJob(store, "evt-b");
    assert.deepEqual([job?.status, job?.deadLetter], ["failed", { failedAt: NOW, reason: error }]);
    assert.deepEqual((await claim(store)).unreadable, []);
    const { cause } = await failsWith("store_unavailable", store.check());
    assert.match(String(cause), /1 job has an event that cannot be read/);
  });

  test("is set aside by its number when SQLite cannot read it", async (t) => {
    const store = await damagedStore(t, breakPage);
    const { claimed, unreadable } = await claim(store);
    assert.equal(claimed.length + unreadable.length, EVENTS.length);
    assert.ok(claimed.length > 0 && unreadable.length > 0);
    const error = "the database is damaged: the event cannot be read";
    for (const job of unreadable) assert.deepEqual([job.eventId, job.error], [null, error]);
    assert.equal((await store.backlog()).unreadable, unreadable.length);
  });

  test("is set aside again after a replay, until it can be read", async (t) => {
    const store = await damagedStore(t, changeOneByte);
    await claim(store);
    assert.equal((await replayAll(store)).count, 1);
    await store.check();
    assert.equal((await claim(store)).unreadable.length, 1);
  });
});
