import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { test } from "node:test";
import Sqlite from "better-sqlite3";
import { freeBytes } from "../../src/lib/files.ts";
import { monitorWrites } from "../../src/sqlite/writes.ts";
import { tempDatabase } from "../helpers/database.ts";
import { throwsCode } from "../helpers/fails-with.ts";
import type { Cleanup } from "../helpers/temp-dir.ts";

const LARGE = "x".repeat(100_000);

function setUp(context: Cleanup) {
  const { database } = tempDatabase(context);
  const writes = monitorWrites(database, { inPlace() {}, minFreeBytes: 0 });
  const insert = database.prepare("INSERT INTO metadata (key, value) VALUES (?, ?)");
  return {
    database,
    idle: () => writes.idle(),
    check: () => writes.run(() => writes.check()),
    write: (key: string, value: string) => writes.run(() => insert.run(key, value)),
    fail: (error: Error) =>
      writes.run(() => {
        throw error;
      }),
  };
}

test("a check writes only after a lost change, until a change succeeds", (t) => {
  const { database, check, write } = setUp(t);
  const changes = () => database.prepare("SELECT total_changes()").pluck().get();
  const opened = changes();
  check();
  assert.equal(changes(), opened);

  const pages = database.pragma("page_count", { simple: true });
  database.pragma(`max_page_count = ${pages}`);
  throwsCode("store_unavailable", () => write("large", LARGE));
  const before = changes();
  check();
  assert.notEqual(changes(), before);
  const after = changes();
  check();
  assert.equal(changes(), after);
});

test("the space of removed rows returns to the disk once little more is written", (t) => {
  const { database, write, idle } = setUp(t);
  const bytes = (end: string) => statSync(database.name + end).size;
  write("large", LARGE.repeat(20));
  for (const _ of ["written", "idle"]) idle();
  const full = bytes("");
  assert.equal(bytes("-wal"), 0);
  database.exec("DELETE FROM metadata WHERE key = 'large'");
  database.pragma("incremental_vacuum(100000)");
  for (let row = 0; row < 100; row++) write(`row-${row}`, "");
  idle();
  assert.ok(bytes("-wal") > 0);
  // As a heartbeat does.
  write("beat", "");
  idle();
  assert.deepEqual([bytes("-wal"), bytes("") < full / 2], [0, true]);
});

test("a check fails while its test write fails", (t) => {
  const { database, check, fail } = setUp(t);
  throwsCode("store_unavailable", () => fail(new Sqlite.SqliteError("database or disk is full", "SQLITE_FULL")));
  database.pragma("query_only = true");
  throwsCode("store_unavailable", check);
  throwsCode("store_unavailable", check);
  database.pragma("query_only = false");
  check();
});

test("after a change lost to another program's lock, a check does not require free space", (t) => {
  const { check, fail } = setUp(t);
  throwsCode("store_unavailable", () => fail(new Sqlite.SqliteError("database is locked", "SQLITE_BUSY")));
  check();
});

test("after damage a check always fails: a change elsewhere proves nothing about the damaged page", (t) => {
  const { check, write, fail } = setUp(t);
  throwsCode("store_unavailable", () => fail(new Sqlite.SqliteError("malformed", "SQLITE_CORRUPT")));
  throwsCode("store_unavailable", check);
  write("key", "value");
  throwsCode("store_unavailable", check);
});

test("an error that is not the store's is not a lost change", (t) => {
  const { check, database, fail } = setUp(t);
  assert.throws(() => fail(new Error("a defect")), /a defect/);
  check();
  assert.equal(database.prepare("SELECT count(*) FROM metadata WHERE key <> 'schema_steps'").pluck().get(), 0);
});

test("deliveries below the least free space are refused at once, and not only when the next check of the disk notices", (t) => {
  const { database } = tempDatabase(t);
  const refuses = (minFreeBytes: number) => {
    const writes = monitorWrites(database, { inPlace() {}, minFreeBytes });
    writes.run(() => writes.requireRoom(1));
  };
  refuses(0);
  throwsCode("intake_paused", () => refuses(freeBytes(database.name) + 1024 ** 3));
});
