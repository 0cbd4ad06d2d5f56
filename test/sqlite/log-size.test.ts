import assert from "node:assert/strict";
import { rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import Sqlite from "better-sqlite3";
import { sqliteEvents } from "../../src/sqlite/events.ts";
import { watchLogSize } from "../../src/sqlite/log-size.ts";
import { tempDatabase } from "../helpers/database.ts";
import { newEvent } from "../helpers/events.ts";
import { recordingLog } from "../helpers/log.ts";
import { until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";

const MEGABYTE = 1024 * 1024;

test("a WAL that grows during a long read is warned of, and is small again after the read", async (t) => {
  const { database } = tempDatabase(t);
  const events = sqliteEvents(database);
  let stored = 0;
  const store = (megabytes: number) => {
    for (let n = 0; n < megabytes; n++) {
      events.append([newEvent({ eventId: `e-${stored++}`, payload: Buffer.alloc(MEGABYTE) })]);
    }
  };
  const { log, named } = recordingLog();
  const size = watchLogSize(database.name, log, 10, 40 * MEGABYTE);
  t.after(() => size.stop());

  const reader = new Sqlite(database.name, { readonly: true });
  t.after(() => reader.close());
  reader.exec("BEGIN; SELECT count(*) FROM events");
  store(50);
  assert.ok(size.bytes() > 50 * MEGABYTE);
  await until(() => named("database_log_large").length === 1);
  reader.exec("COMMIT");
  store(20);
  assert.ok(size.bytes() <= 17 * MEGABYTE, `${size.bytes()} bytes`);
  assert.equal(named("database_log_large").length, 1);
});

test("a WAL whose size cannot be read has an unknown size, and is watched again when it can be read", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const pass = async () => {
    t.mock.timers.tick(1000);
    await nextTurn();
  };
  const file = join(workingDir(), "database");
  symlinkSync(`${file}-wal`, `${file}-wal`);
  const { log, named } = recordingLog();
  const size = watchLogSize(file, log, 1000, 2);
  t.after(() => size.stop());
  await pass();
  assert.ok(Number.isNaN(size.bytes()));
  rmSync(`${file}-wal`);
  writeFileSync(`${file}-wal`, "long");
  await pass();
  assert.deepEqual(
    named("database_log_large").map(({ bytes }) => bytes),
    [4],
  );
});
