import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import type { Worker } from "node:worker_threads";
import { startThread } from "../../src/platform/checkout.ts";
import { lockForServer } from "../../src/sqlite/data-dir.ts";
import { openForServer } from "../../src/sqlite/open.ts";
import { tempDatabase } from "../helpers/database.ts";
import { recordingLog } from "../helpers/log.ts";

test("a start that fails after the storage thread runs ends the thread, and frees the lock", async (t) => {
  const { database, dataDir } = tempDatabase(t);
  let thread: Worker | undefined;
  let exit: Promise<unknown> | undefined;
  const opening = openForServer({
    dataDir,
    minFreeBytes: undefined,
    startThread(options) {
      assert.equal(options.workerData.role, "storage", "nothing is read");
      thread = startThread("storage", { ...options, execArgv: [] });
      exit = once(thread, "exit");
      // The leases of an earlier process then cannot be ended, and the log fails too.
      thread.once("message", () => database.exec("DROP TABLE jobs"));
      return thread;
    },
    log: { ...recordingLog().log, error: () => assert.fail("the log is full") },
  });
  await assert.rejects(opening, /the log is full/);
  await exit;
  lockForServer(dataDir).release();
});
