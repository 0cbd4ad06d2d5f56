import assert from "node:assert/strict";
import { test } from "node:test";
import Sqlite from "better-sqlite3";
import { databaseFile, openDatabase } from "../../src/sqlite/database.ts";
import { sqliteEvents } from "../../src/sqlite/events.ts";
import { APPLICATION_ID } from "../../src/sqlite/maintenance/inspect.ts";
import { onSqlite } from "../../src/sqlite/queries.ts";
import { SCHEMA, stepsFrom } from "../../src/sqlite/schema.ts";
import { auditStore } from "../../src/storage/audit.ts";
import { clientStore } from "../../src/storage/clients.ts";
import { factorStore } from "../../src/storage/factors.ts";
import { tokenStore } from "../../src/storage/machine-tokens.ts";
import { outageStore } from "../../src/storage/outages.ts";
import { PLAIN_CODEC } from "../../src/storage/payload-codec.ts";
import { refusalStore } from "../../src/storage/refusals.ts";
import { statementWith, tempDatabase } from "../helpers/database.ts";
import { newEvent } from "../helpers/events.ts";
import { tempDir } from "../helpers/temp-dir.ts";

/** A part of each statement that a delivery and an attempt run. */
const HOT_PATH = [
  "INSERT INTO events",
  "FROM events WHERE id > (SELECT routed_to FROM tally)",
  "INSERT INTO jobs (event, route, status, due_at)",
  "FROM jobs WHERE route = +? AND due_at <= +?",
  "SELECT min(due_at)",
  "SET attempts = attempts + 1",
  "UPDATE jobs SET status = ?",
  "INSERT INTO attempts",
];

test("no statement of the hot path builds a temporary table", (t) => {
  const { database } = tempDatabase(t);
  for (const part of HOT_PATH) {
    const statement = statementWith(database, part);
    const text = `EXPLAIN ${statement.replaceAll("?", "1")}`;
    const opcodes = database.prepare<[], { opcode: string }>(text).all();
    assert.ok(opcodes.length > 10, statement);
    assert.ok(!opcodes.some(({ opcode }) => opcode === "OpenEphemeral"), statement);
  }
});

test("an unknown status or outcome is refused", (t) => {
  const { database } = tempDatabase(t);
  const events = sqliteEvents(database);
  events.append([newEvent()]);
  events.addJobs([1], [{ event: 1, route: "default", dueAt: 1, orderingKey: null }]);
  for (const status of ["queued", "processed", "failed", "discarded"])
    assert.equal(database.prepare("UPDATE jobs SET status = ?").run(status).changes, 1);
  assert.throws(() => database.exec("UPDATE jobs SET status = 'other'"), /CHECK constraint failed: status/);
  const add = database.prepare(
    "INSERT INTO attempts (event, route, attempt, started_at, finished_at, outcome) VALUES (1, 'default', ?, 1, 1, ?)",
  );
  for (const [index, outcome] of ["succeeded", "failed", "lease_expired"].entries()) add.run(index, outcome);
  assert.throws(() => add.run(4, "other"), /CHECK constraint failed: outcome/);
});

test("a new file has the schema of this version, and returns the space of deleted rows", (t) => {
  const { database } = tempDatabase(t);
  const pragma = (name: string) => database.pragma(name, { simple: true });
  assert.deepEqual([pragma("user_version"), pragma("auto_vacuum")], [SCHEMA, 2]);
});

test("a file of schema 15 keeps its events, repeats are kept beside them, and discarded events are counted", (t) => {
  const dataDir = tempDir(t);
  const old = new Sqlite(databaseFile(dataDir));
  old.pragma("auto_vacuum = INCREMENTAL");
  old.exec(stepsFrom(0)[0] ?? "");
  old.pragma(`application_id = ${APPLICATION_ID}`);
  old.pragma("user_version = 15");
  const digest = "ab".repeat(32);
  old.exec(`INSERT INTO events VALUES (1, 'default', 'e-1', 'push', 1, 1, x'${digest}')`);
  old.exec(`INSERT INTO events VALUES (2, 'default', 'e-0', 'push', 1, 1, NULL)`);
  old.exec("INSERT INTO contents VALUES (2, 'env:SECRET', '192.0.2.1', '{}', 'text/plain', 0, x'61')");
  old.exec("INSERT INTO contents VALUES (1, 'env:SECRET', '192.0.2.1', '{}', 'text/plain', 0, x'61')");
  old.exec("INSERT INTO jobs (event, route, status) VALUES (1, 'default', 'discarded'), (1, 'other', 'processed')");
  old.exec("INSERT INTO attempts VALUES (1, 'other', 1, 1, 2, 'succeeded', NULL, 'ok')");
  old.exec("UPDATE jobs SET is_replay = 1 WHERE route = 'other'");
  old.exec("UPDATE tally SET routed_to = 2, processed = 2, unrouted = 1");
  old.close();
  const database = openDatabase(dataDir);
  t.after(() => database.close());
  assert.equal(database.pragma("user_version", { simple: true }), SCHEMA);
  const events = sqliteEvents(database);
  events.append([newEvent({ eventId: "e-2", bytesSha256: digest })]);
  assert.equal(events.get("e-1")[0]?.repeats[0]?.eventId, "e-2");
  assert.deepEqual(
    events
      .get("e-1")[0]
      ?.jobs[1]?.history.map(({ response, responseStatus, replay }) => [response, responseStatus, replay]),
    [["ok", null, null]],
  );
  assert.deepEqual(
    events.get("e-1")[0]?.jobs.map(({ replays }) => replays),
    [0, 1],
  );
  assert.deepEqual(onSqlite(database, tokenStore).list(), []);
  assert.equal(onSqlite(database, outageStore).beat(1), null);
  assert.deepEqual(onSqlite(database, factorStore).list(""), []);
  assert.equal(events.pauseRoute("other", 1, 9), true);
  assert.equal(events.erase({ eventId: "e-1", source: "default" }, { reason: "asked for", now: 1 })?.running, 0);
  assert.equal(events.resetComparisons("other"), false);
  assert.deepEqual(
    events.list({ status: "unrouted", limit: 9 }).items.map(({ eventId }) => eventId),
    ["e-0"],
  );
  assert.deepEqual(onSqlite(database, auditStore).after(0, 1), []);
  assert.deepEqual(onSqlite(database, refusalStore).list(0), []);
  assert.deepEqual(onSqlite(database, clientStore(PLAIN_CODEC)).participations(), []);
  const { processed, discarded } = events.backlog();
  assert.deepEqual([processed, discarded], [0, 1]);
});

test("the lists until a time of a file of schema 15 are complete, after its clock was set back", (t) => {
  const dataDir = tempDir(t);
  const old = new Sqlite(databaseFile(dataDir));
  old.pragma("auto_vacuum = INCREMENTAL");
  old.exec(stepsFrom(0)[0] ?? "");
  old.pragma(`application_id = ${APPLICATION_ID}`);
  old.pragma("user_version = 15");
  // The first event is removed, and its minute, which the third one shares. The last one is before its fan-out.
  for (const [index, minute] of [5, 10, 5, 10, 6].entries()) {
    const id = index + 1;
    old.exec(`INSERT INTO events VALUES (${id}, 'default', 'e-${id}', 'push', ${minute * 60_000}, 1, NULL)`);
    if (id > 1)
      old.exec(`INSERT INTO contents VALUES (${id}, 'env:SECRET', '192.0.2.1', '{}', 'text/plain', 0, x'61')`);
  }
  old.exec("INSERT INTO events_by_minute VALUES (10, 2)");
  old.exec("UPDATE tally SET routed_to = 4, processed = 3, unrouted = 3");
  old.close();
  const database = openDatabase(dataDir);
  t.after(() => database.close());
  const events = sqliteEvents(database);
  const until = (minute: number) =>
    events.list({ until: minute * 60_000, limit: 9 }).items.map(({ eventId }) => eventId);
  assert.deepEqual([until(5), until(6), until(7)], [[], ["e-3"], ["e-5", "e-3"]]);
  assert.deepEqual(until(11), ["e-5", "e-4", "e-3", "e-2"]);
  assert.deepEqual(database.prepare("SELECT minute, last_event AS last FROM events_by_minute").all(), [
    { minute: 5, last: 3 },
    { minute: 10, last: 4 },
  ]);
});
