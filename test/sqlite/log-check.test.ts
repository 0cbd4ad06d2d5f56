import assert from "node:assert/strict";
import { once } from "node:events";
import { copyFileSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, type TestContext, test } from "node:test";
import { Worker } from "node:worker_threads";
import type { Database } from "../../src/sqlite/database.ts";
import { inspectLog } from "../../src/sqlite/log-check.ts";
import { createMetadata } from "../../src/sqlite/metadata.ts";
import { flipBit, flipBitOfFrame, framesIn } from "../helpers/damage.ts";
import { tempDatabase } from "../helpers/database.ts";
import { tempDir } from "../helpers/temp-dir.ts";

const SOUND = { isHeaderWrong: false, isWhole: true, lostTransactions: 0 };

/** Commits as many transactions, each of one frame. */
function commit(database: Database, count: number): void {
  const metadata = createMetadata(database);
  for (let n = 0; n < count; n++) metadata.set("key", String(n));
}

/** A copy of a database and its log, as a kill leaves them. */
function killed(t: TestContext, database: Database): { file: string; log: string } {
  const file = join(tempDir(t), "copy.db");
  copyFileSync(database.name, file);
  copyFileSync(`${database.name}-wal`, `${file}-wal`);
  return { file, log: `${file}-wal` };
}

/** The same with an empty log to begin with, and this many transactions. */
function killedAfter(t: TestContext, count: number) {
  const { database } = tempDatabase(t);
  database.pragma("wal_checkpoint(TRUNCATE)");
  commit(database, count);
  return killed(t, database);
}

suite("the log of a database", () => {
  test("is sound where there is none, and where it is empty or was not on disk yet", (t) => {
    const file = join(tempDir(t), "no.db");
    assert.deepEqual(inspectLog(file), SOUND);
    for (const bytes of [0, 31, 32, 10_000]) {
      writeFileSync(`${file}-wal`, Buffer.alloc(bytes));
      assert.deepEqual(inspectLog(file), SOUND, `${bytes} bytes`);
    }
  });

  test("is sound as a kill leaves it, also behind an earlier lap of it", (t) => {
    const { database } = tempDatabase(t);
    commit(database, 40);
    assert.deepEqual(inspectLog(killed(t, database).file), SOUND);
    database.pragma("wal_checkpoint(RESTART)");
    commit(database, 7);
    const { file, log } = killed(t, database);
    assert.ok(framesIn(log) > 40);
    assert.deepEqual(inspectLog(file), SOUND);
  });

  test("is sound with a transaction that was not committed", (t) => {
    const { database } = tempDatabase(t);
    database.pragma("cache_size = 10");
    database.exec("BEGIN");
    createMetadata(database).set("large", "x".repeat(500_000));
    const { file, log } = killed(t, database);
    assert.ok(framesIn(log) > 50);
    assert.deepEqual(inspectLog(file), SOUND);
    database.exec("ROLLBACK");
  });

  for (const [what, at] of [
    ["magic number", 3],
    ["page size", 10],
    ["salt", 16],
    ["checksum", 30],
  ] as const) {
    test(`with another ${what} in its header has a wrong header`, (t) => {
      const { file, log } = killedAfter(t, 5);
      flipBit(log, at);
      assert.deepEqual(inspectLog(file), { isHeaderWrong: true, isWhole: false, lostTransactions: 0 });
    });
  }

  for (const [what, at, lost] of [
    ["page", 24 + 500, 29],
    ["page number", 3, 29],
    ["mark of a commit", 7, 29],
    ["salt", 8, 29],
    // The frame behind it goes on from that.
    ["checksum", 20, 28],
  ] as const) {
    test(`with a flipped bit in the ${what} of a frame has lost the transactions behind it`, (t) => {
      const { file, log } = killedAfter(t, 40);
      assert.equal(framesIn(log), 40);
      flipBit(log, 32 + 10 * 4120 + at);
      assert.deepEqual(inspectLog(file), { isHeaderWrong: false, isWhole: false, lostTransactions: lost });
    });
  }

  test("that a power cut tore in its last transaction has lost none, and is not whole", (t) => {
    const { database } = tempDatabase(t);
    commit(database, 5);
    const before = statSync(`${database.name}-wal`).size;
    createMetadata(database).set("large", "x".repeat(50_000));
    const { file, log } = killed(t, database);
    const bytes = readFileSync(log);
    bytes.fill(0, before + 4120, before + 2 * 4120);
    writeFileSync(log, bytes);
    assert.deepEqual(inspectLog(file), { isHeaderWrong: false, isWhole: false, lostTransactions: 0 });
  });

  test("cut short in a frame is sound: nothing of it is left", (t) => {
    const { file, log } = killedAfter(t, 5);
    truncateSync(log, statSync(log).size - 100);
    assert.deepEqual(inspectLog(file), SOUND);
  });

  test("of two damaged frames has lost what is whole behind the first", (t) => {
    const { file, log } = killedAfter(t, 40);
    flipBitOfFrame(log, 10);
    flipBitOfFrame(log, 20);
    assert.equal(inspectLog(file).lostTransactions, 9 + 19);
  });

  test("that somebody writes to is not called damaged: it changes while it is read", async (t) => {
    const { file, log } = killedAfter(t, 40);
    flipBitOfFrame(log, 10);
    const writer = new Worker(
      `const { utimesSync } = require("node:fs");
      const { parentPort, workerData } = require("node:worker_threads");
      setInterval(() => utimesSync(workerData, new Date(), new Date()), 5);
      parentPort.postMessage("begun");`,
      { eval: true, workerData: log },
    );
    await once(writer, "message");
    assert.deepEqual(inspectLog(file), SOUND);
    await writer.terminate();
    assert.equal(inspectLog(file).lostTransactions, 29);
  });
});
