import assert from "node:assert/strict";
import { existsSync, readdirSync, readlinkSync, renameSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { MessageChannel } from "node:worker_threads";
import { OperatorError } from "../../src/errors.ts";
import { createSqliteEventStore } from "../../src/events/sqlite/store.ts";
import { startThread } from "../../src/packaging.ts";
import { DATABASE_FILE, type Database, fileIdOf, openDatabase } from "../../src/sqlite/database.ts";
import { joinStorage } from "../../src/storage/join.ts";
import { openStorage, type Storage } from "../../src/storage/open.ts";
import type { StorageThreadData } from "../../src/storage/thread.ts";
import { remoteThread } from "../../src/threads/remote-thread.ts";
import { eventStoreContract } from "../contract/event-store.ts";
import { sessionStoreContract } from "../contract/session-store.ts";
import { supersessionContract } from "../contract/supersession.ts";
import { throttleCountsContract } from "../contract/throttle-counts.ts";
import { throttleStoreContract } from "../contract/throttle-store.ts";
import { isLocked, tempDatabase } from "../helpers/database.ts";
import { newEvent } from "../helpers/events.ts";
import { failsWith } from "../helpers/fails-with.ts";
import { type Cleanup, tempDir } from "../helpers/temp-dir.ts";
import { watchThreads } from "../helpers/threads.ts";
import { isWell, until } from "../helpers/until.ts";

async function open(t: Cleanup): Promise<{ storage: Storage; dataDir: string }> {
  // Declared first: callbacks run in order, and the files must be closed before they are removed.
  let storage: Storage | undefined;
  t.after(() => storage?.close());
  const dataDir = tempDir(t);
  storage = await openStorage({ dataDir, onThreadDeath: (error) => assert.fail(error) });
  return { storage, dataDir };
}

eventStoreContract("SQLite on its thread", async (t) => (await open(t)).storage.events);
sessionStoreContract("embedded on its thread", async (t) => (await open(t)).storage.sessions);
supersessionContract("embedded on its thread", async (t) => (await open(t)).storage.sessions);
throttleStoreContract("SQLite on its thread", async (t) => (await open(t)).storage.throttle);
throttleCountsContract("SQLite on its thread", async (t) => (await open(t)).storage.throttle);

test("what the storage thread stored is there after it has closed", async (t) => {
  const dataDir = tempDir(t);
  const storage = await openStorage({ dataDir, onThreadDeath: (error) => assert.fail(error) });
  await Promise.all([storage.events.append([newEvent()]), storage.sessions.replace("1", "a", 60)]);
  await storage.close();
  const database = openDatabase(dataDir);
  t.after(() => void database.close());
  assert.equal((await createSqliteEventStore(database).list({ limit: 10 })).length, 1);
});

test("calls after the storage has closed are store_unavailable", async (t) => {
  const dataDir = tempDir(t);
  const storage = await openStorage({ dataDir, onThreadDeath: (error) => assert.fail(error) });
  await storage.close();
  await failsWith("store_unavailable", storage.events.append([newEvent()]));
});

test("the storage thread answers the call that ends it", async (t) => {
  const { database, dataDir } = tempDatabase(t);
  const { port2: ports } = new MessageChannel();
  const workerData: StorageThreadData = { dataDir, file: fileIdOf(database), ports };
  const thread = remoteThread(startThread("storage", { workerData, transferList: [ports] }), "the storage thread");
  await thread.remote.call("thread", "close", []);
  await thread.died;
});

/** Where the descriptors of this process lead that are open in a folder. */
function descriptorsIn(folder: string): string[] {
  const targets = readdirSync("/proc/self/fd").map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return "";
    }
  });
  return targets.filter((target) => target.startsWith(folder));
}

for (const [what, hinder] of [
  // Its thread goes on living.
  ["is held by another program", (database: Database) => void database.exec("BEGIN IMMEDIATE")],
  ["loses its thread at the start", () => void process.once("worker", (thread) => void thread.terminate())],
] as const) {
  test(`a storage that ${what} leaves nothing open`, async (t) => {
    const { database, dataDir } = tempDatabase(t);
    const threads = watchThreads(t);
    hinder(database);
    await assert.rejects(
      openStorage({ dataDir, onThreadDeath: () => {} }),
      (error) => error instanceof OperatorError && /cannot be written now/.test(error.message),
    );
    database.close();
    assert.deepEqual(descriptorsIn(dataDir), []);
    assert.deepEqual(
      threads.map(({ threadId }) => threadId),
      [-1],
    );
  });
}

test("the caller's payload is still whole after it was sent to the thread", async (t) => {
  const { storage } = await open(t);
  const event = newEvent({ payload: Buffer.from("some bytes") });
  await storage.events.append([event, newEvent({ eventId: "e-2", payload: Buffer.alloc(100_000, "x") })]);
  assert.equal(Buffer.from(event.payload).toString(), "some bytes");
  assert.equal((await storage.events.get("e-2"))[0]?.payload.length, 100_000);
});

/** A storage whose thread may die, with one event. */
async function openWatched(t: Cleanup) {
  const threads = watchThreads(t);
  const deaths: Error[] = [];
  const dataDir = tempDir(t);
  const storage = await openStorage({ dataDir, onThreadDeath: (error) => void deaths.push(error) });
  t.after(() => storage.close());
  await storage.events.append([newEvent({ eventId: "before" })]);
  return { storage, dataDir, threads, deaths };
}

test("when the storage thread dies calls under way are store_unavailable, and a new thread serves what was stored", async (t) => {
  const { storage, threads, deaths } = await openWatched(t);

  const underWay = storage.events.append([newEvent({ eventId: "during" })]);
  void threads[0]?.terminate();
  await failsWith("store_unavailable", underWay);
  await until(() => isWell(() => storage.events.append([newEvent({ eventId: "after" })])));
  assert.equal(deaths.length, 1);
  assert.equal((await storage.events.get("before")).length, 1);
  assert.equal((await storage.events.get("after")).length, 1);
});

test("a new storage thread takes no other file for the database, and goes on when it is back", async (t) => {
  const { storage, dataDir, threads, deaths } = await openWatched(t);

  const file = join(dataDir, DATABASE_FILE);
  renameSync(file, `${file}.away`);
  await threads[0]?.terminate();
  await until(() => deaths.length >= 3, 5000);
  await failsWith("store_unavailable", storage.events.append([newEvent({ eventId: "meanwhile" })]));
  assert.ok(!existsSync(file));
  renameSync(`${file}.away`, file);
  await until(() => isWell(() => storage.events.append([newEvent({ eventId: "after" })])), 10_000);
  assert.deepEqual(
    await Promise.all(["before", "meanwhile", "after"].map(async (id) => (await storage.events.get(id)).length)),
    [1, 0, 1],
  );
});

test("the database stays locked while a thread joins it, and while the storage thread is started again", async (t) => {
  const threads = watchThreads(t);
  const dataDir = tempDir(t);
  const storage = await openStorage({ dataDir, onThreadDeath: () => {} });
  t.after(() => storage.close());
  assert.ok(isLocked(dataDir), "after the start");

  const joined = joinStorage(
    dataDir,
    storage.connect(() => {}),
  );
  t.after(() => joined.close());
  assert.ok(isLocked(dataDir), "after a thread joined");

  await threads[0]?.terminate();
  await until(() => isWell(() => storage.events.append([newEvent()])));
  assert.ok(isLocked(dataDir), "after the storage thread was started again");
});
