import assert from "node:assert/strict";
import { existsSync, readdirSync, readlinkSync, renameSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Worker } from "node:worker_threads";
import { OperatorError } from "../../src/errors.ts";
import { callThread } from "../../src/lib/thread-rpc.ts";
import { startThread } from "../../src/platform/checkout.ts";
import { DATABASE_FILE, type Database, openDatabase } from "../../src/sqlite/database.ts";
import { openForServer } from "../../src/sqlite/open.ts";
import { openFilesOf } from "../../src/sqlite/open-files.ts";
import { localStores, type SqliteStores } from "../../src/sqlite/stores.ts";
import type { StorageServices, StorageThreadData } from "../../src/sqlite/thread.ts";
import { intakeContract } from "../contract/event-store.ts";
import { sessionStoreContract } from "../contract/session-store.ts";
import { throttleStoreContract } from "../contract/throttle-store.ts";
import { isLocked, tempDatabase } from "../helpers/database.ts";
import { newEvent } from "../helpers/events.ts";
import { failsWith } from "../helpers/fails-with.ts";
import { recordingLog } from "../helpers/log.ts";
import { type Cleanup, tempDir } from "../helpers/temp-dir.ts";
import { watchThreads } from "../helpers/threads.ts";
import { isWell, until } from "../helpers/until.ts";

/** Opens a data directory as a server does. `threads` are the storage threads, `deaths` the log lines of their ends. */
async function openIn(dataDir: string) {
  const { log, lines } = recordingLog();
  const threads: Worker[] = [];
  const stores = await openForServer({
    dataDir,
    minFreeBytes: undefined,
    // Without the loader of the tests a thread starts in half the time.
    startThread: (options) => {
      const thread = startThread("storage", { ...options, execArgv: [] });
      if (options.workerData.role === "storage") threads.push(thread);
      return thread;
    },
    log,
  });
  return { ...stores, threads, deaths: () => lines.filter(({ event }) => event === "storage_thread_died") };
}

async function open(t: Cleanup): Promise<SqliteStores> {
  // Declared first: callbacks run in order, and the files must be closed before they are removed.
  let stores: SqliteStores | undefined;
  t.after(() => stores?.events.close());
  stores = await openIn(tempDir(t));
  return stores;
}

// What a thread may change: the bytes of events on their way to it, and the order of calls that race. The other
// contracts run on SQLite without a thread, because a call does the same there.
intakeContract("SQLite on its thread", async (t) => (await open(t)).events);
sessionStoreContract("embedded on its thread", async (t) => (await open(t)).sessions);
throttleStoreContract("SQLite on its thread", async (t) => (await open(t)).throttle);

test("events are stored after the storage thread has closed", async (t) => {
  const dataDir = tempDir(t);
  const { events, sessions } = await openIn(dataDir);
  await Promise.all([events.append([newEvent()]), sessions.replace("1", "a", 60)]);
  await events.close();
  const database = openDatabase(dataDir);
  t.after(() => void database.close());
  assert.equal((await localStores(database).events.list({ limit: 10 })).items.length, 1);
});

test("calls after the storage thread has closed are store_unavailable", async (t) => {
  const { events } = await openIn(tempDir(t));
  await events.close();
  await failsWith("store_unavailable", events.append([newEvent()]));
});

test("the storage thread answers the call that ends it", async (t) => {
  const { database, dataDir } = tempDatabase(t);
  const workerData: StorageThreadData = {
    role: "storage",
    dataDir,
    files: openFilesOf(database),
    minFreeBytes: undefined,
  };
  const thread = callThread<StorageServices>(startThread("storage", { workerData }), "the storage thread");
  await thread.call("thread", "close", []);
  await thread.died;
});

/** The files in a folder that this process has open. */
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
  // Its thread stays alive.
  ["is held by another program", (database: Database) => void database.exec("BEGIN IMMEDIATE")],
  ["loses its thread at the start", () => void process.once("worker", (thread) => void thread.terminate())],
] as const) {
  test(`opening a storage that ${what} leaves nothing open`, async (t) => {
    const { database, dataDir } = tempDatabase(t);
    const threads = watchThreads(t);
    hinder(database);
    await assert.rejects(
      openIn(dataDir),
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

test("a payload is still usable by the caller after it was sent to the thread", async (t) => {
  const { events } = await open(t);
  const event = newEvent({ payload: Buffer.from("some bytes") });
  await events.append([event, newEvent({ eventId: "e-2", payload: Buffer.alloc(100_000, "x") })]);
  assert.equal(Buffer.from(event.payload).toString(), "some bytes");
  assert.equal((await events.get("e-2"))[0]?.payload.length, 100_000);
});

/** A storage with one event, whose thread the test may kill. */
async function openWatched(t: Cleanup) {
  const dataDir = tempDir(t);
  const { events, threads, deaths } = await openIn(dataDir);
  t.after(() => events.close());
  await events.append([newEvent({ eventId: "before" })]);
  return { events, dataDir, threads, deaths };
}

test("when the storage thread dies, a call is answered or store_unavailable, and a new thread serves the events", async (t) => {
  const { events, threads, deaths } = await openWatched(t);

  const underWay = events.append([newEvent({ eventId: "during" })]);
  void threads[0]?.terminate();
  // Its answer may have been sent before the end.
  const answer = await underWay.then(
    () => "stored",
    ({ code }) => code,
  );
  assert.ok(["stored", "store_unavailable"].includes(answer), answer);
  await until(() => deaths().length === 1);
  await until(() => isWell(() => events.append([newEvent({ eventId: "after" })])));
  assert.equal((await events.get("before")).length, 1);
  assert.equal((await events.get("after")).length, 1);
  if (answer === "stored") assert.equal((await events.get("during")).length, 1);
});

test("a restarted storage thread refuses another database file, and works again when the file is back", async (t) => {
  const { events, dataDir, threads, deaths } = await openWatched(t);

  const file = join(dataDir, DATABASE_FILE);
  renameSync(file, `${file}.away`);
  await threads[0]?.terminate();
  await until(() => deaths().length >= 3);
  await failsWith("store_unavailable", events.append([newEvent({ eventId: "meanwhile" })]));
  assert.ok(!existsSync(file));
  renameSync(`${file}.away`, file);
  await until(() => isWell(() => events.append([newEvent({ eventId: "after" })])));
  assert.deepEqual(
    await Promise.all(["before", "meanwhile", "after"].map(async (id) => (await events.get(id)).length)),
    [1, 0, 1],
  );
});

test("the database stays locked while the storage thread restarts", async (t) => {
  const { events, dataDir, threads } = await openWatched(t);
  assert.ok(isLocked(dataDir), "after the start");
  await threads[0]?.terminate();
  await until(() => isWell(() => events.append([newEvent()])));
  assert.ok(isLocked(dataDir), "after the storage thread was started again");
});
