import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import Sqlite from "better-sqlite3";
import { DATABASE_FILE, openDatabase } from "../../src/sqlite/database.ts";
import { sqliteEvents } from "../../src/sqlite/events.ts";
import { ADD_ATTEMPT, APPEND, DUE, DUE_SIZES, LEASE, NEXT_DUE, SETTLE } from "../../src/sqlite/events-sql.ts";
import { dataDirOf } from "../helpers/database.ts";
import { newEvent } from "../helpers/events.ts";

function open(t: TestContext, dataDir: string) {
  const database = openDatabase(dataDir);
  t.after(() => void database.close());
  return database;
}

for (const steps of [0, 3]) {
  test(`no statement of a delivery's way makes a table of its own, after step ${steps}`, (t) => {
    const database = open(t, dataDirOf(t, steps));
    for (const statement of [APPEND, DUE_SIZES, DUE, NEXT_DUE, LEASE, SETTLE, ADD_ATTEMPT]) {
      const text = `EXPLAIN ${statement.replaceAll("?", "1")}`;
      const opcodes = database.prepare<[], { opcode: string }>(text).all();
      assert.ok(opcodes.length > 10, statement);
      assert.ok(!opcodes.some(({ opcode }) => opcode === "OpenEphemeral"), statement);
    }
  });

  test(`a state that there is not is refused, after step ${steps}`, (t) => {
    const database = open(t, dataDirOf(t, steps));
    sqliteEvents(database).append([newEvent()]);
    for (const status of ["queued", "processed", "failed"])
      assert.equal(database.prepare("UPDATE events SET status = ?").run(status).changes, 1);
    assert.throws(() => database.exec("UPDATE events SET status = 'other'"), /CHECK constraint failed: status/);
    const add = database.prepare("INSERT INTO attempts VALUES (1, ?, 1, 1, ?, NULL)");
    for (const [index, outcome] of ["succeeded", "failed", "lease_expired"].entries()) add.run(index, outcome);
    assert.throws(() => add.run(4, "other"), /CHECK constraint failed: outcome/);
    assert.equal(database.pragma("integrity_check", { simple: true }), "ok");
  });
}

test("a connection that was open before a step goes on", (t) => {
  const dataDir = dataDirOf(t, 3);
  const before = new Sqlite(join(dataDir, DATABASE_FILE));
  t.after(() => void before.close());
  const insert = before.prepare("INSERT INTO attempts VALUES (1, ?, 1, 1, 'failed', NULL)");
  insert.run(1);
  const database = open(t, dataDir);
  insert.run(2);
  assert.equal(database.prepare("SELECT count(*) FROM attempts").pluck().get(), 2);
});

test("what a server of an earlier version stores is listed and claimed, before a step and after it", (t) => {
  const dataDir = dataDirOf(t, 4);
  const before = new Sqlite(join(dataDir, DATABASE_FILE));
  t.after(() => void before.close());
  const insert = before.prepare(`
    INSERT INTO events (source, event_id, type, status, due_at, received_at, address, headers, content_type, payload)
    VALUES ('default', ?, 'push', 'queued', 1, ?, '192.0.2.1', '{}', 'application/json', x'7b7d')`);
  insert.run("a", 1);
  const database = open(t, dataDir);
  insert.run("b", 2);
  const events = sqliteEvents(database);
  events.append([newEvent({ eventId: "c", receivedAt: 3 })]);
  const ids = (type: string) => events.list({ type, limit: 10 }).map(({ eventId, attempts }) => eventId + attempts);
  assert.deepEqual(ids("push"), ["c0", "b0", "a0"]);
  // It knows the indexes as they are now, too.
  before.prepare("UPDATE events SET attempts = 1, due_at = 4").run();
  assert.deepEqual(ids("push"), ["c1", "b1", "a1"]);
  assert.equal(events.claim({ owner: "a", limit: 10, leaseMs: 1, maxAttempts: 5, now: 4 }).claimed.length, 3);
  assert.deepEqual(ids("push"), ["c2", "b2", "a2"]);
  assert.equal(database.pragma("integrity_check", { simple: true }), "ok");
});

test("the schema cannot be written to once a database is open", (t) => {
  const database = open(t, dataDirOf(t, 3));
  database.pragma("writable_schema = ON");
  assert.throws(() => database.exec("UPDATE sqlite_schema SET sql = ''"), /may not be modified/);
});
