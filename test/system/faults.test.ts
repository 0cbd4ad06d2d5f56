import { renameSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import Sqlite from "better-sqlite3";
import { type Fault, walk } from "../helpers/faults.ts";

/** Runs statements on the database as another program. */
function change(file: string, statements: string): void {
  const database = new Sqlite(file, { timeout: 10_000 });
  database.exec(statements);
  database.close();
}

const EVERY_PART = ["events", "sessions", "throttle", "sources", "held", "alerts"];

/** The faults of a database of SQLite, by its file. */
const FAULTS: readonly Fault<string>[] = [
  {
    name: "a table of events is gone",
    make(file) {
      change(file, "ALTER TABLE contents RENAME TO moved_away");
      return () => change(file, "ALTER TABLE moved_away RENAME TO contents");
    },
    delivery: 503,
    login: 200,
    parts: ["events"],
    doctor: /the table contents cannot be written/,
    alert: "AuthserveNotReady",
    log: "not_ready",
  },
  {
    name: "a table of sessions is gone",
    make(file) {
      change(file, "ALTER TABLE sessions RENAME TO moved_away");
      return () => change(file, "ALTER TABLE moved_away RENAME TO sessions");
    },
    delivery: 200,
    login: 503,
    parts: ["sessions"],
    doctor: /the table sessions cannot be written/,
    alert: "AuthserveNotReady",
    log: "not_ready",
  },
  {
    name: "another program locks the database",
    make(file) {
      const other = new Sqlite(file);
      other.exec("BEGIN IMMEDIATE");
      return () => {
        other.exec("ROLLBACK");
        other.close();
      };
    },
    delivery: 503,
    login: 503,
    parts: EVERY_PART,
    doctor: /another program holds its lock/,
    alert: "AuthserveNotReady",
    log: "not_ready",
  },
  {
    name: "the database is moved away",
    make(file) {
      renameSync(file, `${file}.away`);
      return () => renameSync(`${file}.away`, file);
    },
    delivery: 503,
    login: 503,
    parts: ["events"],
    doctor: /authserve\.db is missing/,
    alert: "AuthserveNotReady",
    log: "not_ready",
  },
];

suite("faults of a database of SQLite are told, and end by themselves", { concurrency: 2 }, () => {
  for (const fault of FAULTS) {
    test(fault.name, (t) => walk(t, fault, { env: {}, place: (server) => join(server.dir, "data", "authserve.db") }));
  }
});
