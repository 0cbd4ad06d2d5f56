import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { POSTGRES_FAULTS, REDIS_FAULTS, SQLITE_FAULTS } from "./helpers/fault-table.ts";
import { pageTable } from "./helpers/faults.ts";

const PAGE = readFileSync(join(import.meta.dirname, "../docs/faults.md"), "utf8");

const TABLES = { SQLite: SQLITE_FAULTS, PostgreSQL: POSTGRES_FAULTS, Redis: REDIS_FAULTS };

/** Stands for the faults of the tables, which the suites of {@link TABLES} make. */
const MADE = "made";

/** The files in this folder that show a fault of the lists, without `.test.ts`. Empty: none does. */
const SHOWN_BY: Record<string, string[]> = {
  "The process is killed": ["system/cli/selftest-crash"],
  "SIGTERM or SIGINT": ["system/shutdown"],
  "The terminal goes away (SIGHUP)": ["system/shutdown"],
  "Your app fails": [MADE, "system/forwarding"],
  "Your app cannot be reached, is too slow, or answers 429, 502, 503 or 504": [MADE, "system/outage"],
  "Your app ends while it works on an event": ["worker/handlers/http"],
  "Less disk space than `MIN_FREE_DISK` is free, or the oldest queued event is older than `MAX_QUEUE_AGE`": [MADE],
  "The disk is full, or a quota is reached": [MADE, "system/full-disk"],
  "The disk becomes read-only": [MADE, "system/cli/read-only-disk"],
  "The disk is full at the start": ["system/full-disk"],
  "The disk stalls": ["system/stalled-disk"],
  "A flush to the disk fails (`EIO`)": ["system/disk-faults"],
  "The database is damaged": ["system/refused-start", "system/damaged-event"],
  "The database file is moved, removed or replaced": [MADE, "system/removed-database"],
  "`authserve.db-wal` or `authserve.db-shm` is removed or replaced": [MADE, "system/removed-files"],
  "`authserve.db-wal` is cut short": ["system/removed-files"],
  "`serve.lock` is removed": [MADE, "system/removed-files"],
  "The storage thread dies": ["sqlite/thread-client"],
  "The log cannot be written, or nobody reads its pipe": ["system/full-log"],
  "The clock is set forward": ["worker/leases", "webhook/intake/source-times", "system/clock"],
  "The clock is set back": ["worker/worker", "worker/claim-limits"],
  "At the start the clock is before this version was made, before the newest event, or 30 days after it": [
    "system/clock",
    "events/clock-fault",
  ],
  "The conditions of routes cannot be judged within 2 s, or end the server": ["worker/judging"],
  "The bytes of a stored event change on the disk": [MADE, "system/damaged-event"],
  "The database was made by another build whose schema has the same number": ["sqlite/database"],
  "The server runs out of file descriptors": ["worker/worker"],
  "Redis is down, hangs, loads its data or has become a replica": [MADE, "backends/redis/sessions-faults"],
  "Redis is full": [MADE],
  "A login got 503": [],
  "Redis crashes without `appendfsync always`, or a lagging replica is promoted": [],
  "A failover by sentinels": ["backends/redis/sessions-setups"],
  "A master is made a replica, and its connections stay": [MADE],
  "Redis evicts the session": ["backends/redis"],
  "Servers that share a Redis have different clocks": ["backends/redis/throttle"],
  "PostgreSQL is stopped and started again, crashes, or is killed": [MADE, "backends/postgres/outages"],
  "The answer to a commit is lost": ["backends/postgres/outages"],
  "The primary is killed and a synchronous standby is promoted": ["backends/postgres/failover"],
  "It becomes read-only, or a standby": [MADE, "backends/postgres/refusals"],
  "Another session locks tables, also all of them, or all connections of the pool wait": [
    MADE,
    "backends/postgres/refusals",
  ],
  "It has no connection left": [MADE, "backends/postgres/refusals"],
  "The password is changed": [MADE, "backends/postgres/refusals"],
  "Its disk is full": ["backends/postgres/refusals"],
  "pgbouncer before 1.21 loses named statements": ["backends/postgres/connection"],
};

suite("docs/faults.md", () => {
  for (const [store, faults] of Object.entries(TABLES)) {
    test(`says of each fault with ${store} what its test expects`, () => {
      const expected = pageTable(faults);
      assert.ok(PAGE.includes(`\n\n${expected}\n\n`), `the page needs this table:\n${expected}`);
    });
  }

  test("lists the faults that SHOWN_BY has, whose tests are there", () => {
    const listed = Array.from(PAGE.matchAll(/^- \*\*(.*?)\.\*\* /gm), ([, fault = ""]) => fault);
    assert.deepEqual(listed, Object.keys(SHOWN_BY));
    const files = Object.values(SHOWN_BY)
      .flat()
      .filter((file) => file !== MADE);
    assert.deepEqual(
      files.filter((file) => !existsSync(join(import.meta.dirname, `${file}.test.ts`))),
      [],
    );
  });
});
