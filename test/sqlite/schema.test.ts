import assert from "node:assert/strict";
import { test } from "node:test";
import { sqliteEvents } from "../../src/sqlite/events.ts";
import * as sql from "../../src/sqlite/events-sql.ts";
import { SCHEMA } from "../../src/sqlite/schema.ts";
import { tempDatabase } from "../helpers/database.ts";
import { newEvent } from "../helpers/events.ts";

test("no statement of the hot path builds a temporary table", (t) => {
  const { database } = tempDatabase(t);
  const { APPEND, UNROUTED, ADD_JOB, DUE, NEXT_DUE, LEASE, SETTLE, ADD_ATTEMPT } = sql;
  for (const statement of [APPEND, UNROUTED, ADD_JOB, DUE, NEXT_DUE, LEASE, SETTLE, ADD_ATTEMPT]) {
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
  const add = database.prepare("INSERT INTO attempts VALUES (1, 'default', ?, 1, 1, ?, NULL, NULL)");
  for (const [index, outcome] of ["succeeded", "failed", "lease_expired"].entries()) add.run(index, outcome);
  assert.throws(() => add.run(4, "other"), /CHECK constraint failed: outcome/);
});

test("a new file has the schema of this version, and returns the space of deleted rows", (t) => {
  const { database } = tempDatabase(t);
  const pragma = (name: string) => database.pragma(name, { simple: true });
  assert.deepEqual([pragma("user_version"), pragma("auto_vacuum")], [SCHEMA, 2]);
});
