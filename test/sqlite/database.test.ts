import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { suite, type TestContext, test } from "node:test";
import Sqlite from "better-sqlite3";
import { OperatorError } from "../../src/errors.ts";
import { lockDataDir } from "../../src/sqlite/data-dir.ts";
import { DATABASE_FILE, openDatabase } from "../../src/sqlite/database.ts";
import { APPLICATION_ID, readSteps } from "../../src/sqlite/maintenance/inspect.ts";
import { createMetadata } from "../../src/sqlite/metadata.ts";
import { RECORD_STEPS, SCHEMA, STEP_DIGESTS, stepsFrom } from "../../src/sqlite/schema.ts";
import { changedStep, stepsToRecord } from "../../src/storage/schema-steps.ts";
import { tempDatabase } from "../helpers/database.ts";
import { recordingLog } from "../helpers/log.ts";
import { tempDir } from "../helpers/temp-dir.ts";

const mode = (path: string) => statSync(path).mode & 0o777;

/** The state that a refusal must not change: bytes and mode of the database file, and the names beside it. */
function stateOf(dataDir: string) {
  const file = join(dataDir, DATABASE_FILE);
  return {
    sha256: createHash("sha256").update(readFileSync(file)).digest("hex"),
    mode: mode(file),
    names: readdirSync(dataDir),
  };
}

function refusedUnchanged(dataDir: string, message: RegExp): void {
  const before = stateOf(dataDir);
  assert.throws(
    () => openDatabase(dataDir).close(),
    (error) => error instanceof OperatorError && error.exitCode === 2 && message.test(error.message),
  );
  assert.deepEqual(stateOf(dataDir), before);
}

/** A closed database with content. */
function closedDatabase(t: TestContext): string {
  const { database, dataDir } = tempDatabase(t);
  createMetadata(database).set("key", "value");
  database.close();
  return dataDir;
}

/** A database, and the WAL that it had before it was closed. */
function killed(t: TestContext): { pages: Buffer; log: Buffer } {
  const { database, dataDir } = tempDatabase(t);
  createMetadata(database).set("key", "value");
  const file = join(dataDir, DATABASE_FILE);
  const log = readFileSync(`${file}-wal`);
  database.close();
  return { pages: readFileSync(file), log };
}

const fileIn = (_: TestContext, dataDir: string) => join(dataDir, DATABASE_FILE);

/** Links the database of a data directory to a missing file elsewhere. */
function linkedFrom(t: TestContext, dataDir: string): string {
  const file = join(tempDir(t), "elsewhere.db");
  symlinkSync(file, join(dataDir, DATABASE_FILE));
  return file;
}

suite("the database", () => {
  test("is created with modes that give access only to its owner", (t) => {
    const dataDir = join(tempDir(t), "made", "on", "the", "way");
    const database = openDatabase(dataDir);
    t.after(() => void database.close());
    createMetadata(database).set("key", "value");
    assert.equal(mode(dataDir), 0o700);
    for (const name of readdirSync(dataDir)) assert.equal(mode(join(dataDir, name)), 0o600, name);
  });

  test("keeps what was in it when it is opened again", (t) => {
    const dataDir = closedDatabase(t);
    const database = openDatabase(dataDir);
    t.after(() => void database.close());
    assert.equal(createMetadata(database).get("key"), "value");
  });

  test("is on disk when a commit returns", (t) => {
    const { database } = tempDatabase(t);
    assert.equal(database.pragma("journal_mode", { simple: true }), "wal");
    assert.equal(database.pragma("synchronous", { simple: true }), 2);
  });

  test("that a first start left without tables is used", (t) => {
    const dataDir = tempDir(t);
    const file = join(dataDir, DATABASE_FILE);
    const left = new Sqlite(file);
    left.pragma("journal_mode = WAL");
    left.close();
    assert.ok(statSync(file).size > 0);
    const database = openDatabase(dataDir);
    t.after(() => void database.close());
    createMetadata(database).set("key", "value");
  });

  test("of a newer version is refused with the version that it needs, and unchanged", (t) => {
    const dataDir = closedDatabase(t);
    const raw = new Sqlite(join(dataDir, DATABASE_FILE));
    raw.pragma("user_version = 999");
    raw.prepare(RECORD_STEPS).run('["one 0.2.0", "two 9.1.0"]');
    raw.close();
    refusedUnchanged(dataDir, /schema 999 .* run authserve 9\.1\.0 or newer/);
  });

  test("of a version before the first release is refused and unchanged", (t) => {
    const dataDir = closedDatabase(t);
    const raw = new Sqlite(join(dataDir, DATABASE_FILE));
    raw.pragma("user_version = 6");
    raw.close();
    refusedUnchanged(dataDir, /schema 6, of a version before the first release.*start with an empty DATA_DIR/);
  });

  test("that another step with the same number has made is refused and unchanged", (t) => {
    const dataDir = closedDatabase(t);
    const raw = new Sqlite(join(dataDir, DATABASE_FILE));
    raw.prepare(RECORD_STEPS).run('["other"]');
    raw.close();
    refusedUnchanged(dataDir, /another schema 15 than this version: run the authserve that made it/);
  });

  test("from before its steps had digests gets them", (t) => {
    const dataDir = closedDatabase(t);
    const raw = new Sqlite(join(dataDir, DATABASE_FILE));
    raw.exec("DELETE FROM metadata");
    raw.close();
    const database = openDatabase(dataDir);
    t.after(() => void database.close());
    assert.equal(changedStep(readSteps(database), STEP_DIGESTS), null);
    assert.equal(stepsToRecord(readSteps(database), STEP_DIGESTS), null);
  });

  test("of another program is refused and unchanged", (t) => {
    const dataDir = tempDir(t);
    const raw = new Sqlite(join(dataDir, DATABASE_FILE));
    raw.exec("CREATE TABLE theirs (id INTEGER)");
    raw.close();
    chmodSync(join(dataDir, DATABASE_FILE), 0o644);
    refusedUnchanged(dataDir, /another program's database/);
  });

  test("that is no database is refused and unchanged", (t) => {
    const dataDir = tempDir(t);
    writeFileSync(join(dataDir, DATABASE_FILE), "this is a letter to my mother, and not a database. ".repeat(100));
    refusedUnchanged(dataDir, /damaged or not a database/);
  });

  test("that is truncated is refused and unchanged", (t) => {
    const dataDir = closedDatabase(t);
    const file = join(dataDir, DATABASE_FILE);
    writeFileSync(file, readFileSync(file).subarray(0, 6000));
    refusedUnchanged(dataDir, /damaged or not a database/);
  });

  test("with a first page overwritten is refused and unchanged", (t) => {
    const dataDir = closedDatabase(t);
    const file = join(dataDir, DATABASE_FILE);
    const bytes = readFileSync(file);
    bytes.fill(0xff, 100, 4096);
    writeFileSync(file, bytes);
    refusedUnchanged(dataDir, /damaged or not a database/);
  });

  for (const [what, lose] of [
    ["missing", rmSync],
    ["empty", truncateSync],
  ] as const) {
    test(`that is ${what} beside its WAL is refused, and the WAL is kept`, (t) => {
      const { database, dataDir } = tempDatabase(t);
      createMetadata(database).set("key", "value");
      const file = join(dataDir, DATABASE_FILE);
      const log = readFileSync(`${file}-wal`);
      const page = readFileSync(file);
      database.close();
      lose(file);
      writeFileSync(`${file}-wal`, log);
      const names = readdirSync(dataDir);
      assert.throws(
        () => openDatabase(dataDir, { checked: true }),
        /authserve\.db-wal holds .*: put authserve\.db back/,
      );
      assert.deepEqual(readdirSync(dataDir), names);
      assert.ok(readFileSync(`${file}-wal`).equals(log));

      writeFileSync(file, page);
      const again = openDatabase(dataDir);
      t.after(() => void again.close());
      assert.equal(createMetadata(again).get("key"), "value");
    });
  }

  for (const [what, place] of [
    ["in DATA_DIR", fileIn],
    ["behind a link", linkedFrom],
  ] as const) {
    test(`${what} whose checkpoint was interrupted is opened with its WAL`, (t) => {
      const { pages, log } = killed(t);
      const dataDir = tempDir(t);
      const file = place(t, dataDir);
      writeFileSync(file, pages.subarray(0, 5 * 4096));
      writeFileSync(`${file}-wal`, log);
      const database = openDatabase(dataDir, { checked: true });
      t.after(() => void database.close());
      assert.equal(createMetadata(database).get("key"), "value");
      assert.equal(mode(`${file}-wal`), 0o600);
    });

    test(`${what} that is missing beside its WAL is refused`, (t) => {
      const dataDir = tempDir(t);
      const file = place(t, dataDir);
      writeFileSync(`${file}-wal`, killed(t).log);
      assert.throws(() => openDatabase(dataDir), /authserve\.db-wal holds .*: put authserve\.db back/);
      assert.deepEqual([existsSync(file), existsSync(`${file}-wal`)], [false, true]);
    });
  }

  test("that cannot be created is an error that names DATA_DIR", (t) => {
    const folder = tempDir(t);
    writeFileSync(join(folder, "file"), "");
    assert.throws(() => openDatabase(join(folder, "file")), OperatorError);
    mkdirSync(join(folder, "dir", DATABASE_FILE), { recursive: true });
    assert.throws(() => openDatabase(join(folder, "dir")), /DATA_DIR\/authserve\.db cannot be opened/);
  });

  test("can be opened by several processes at once while it is new", (t) => {
    const { dataDir, database } = tempDatabase(t);
    const other = openDatabase(dataDir);
    t.after(() => void other.close());
    createMetadata(database).set("key", "value");
    assert.equal(createMetadata(other).get("key"), "value");
  });
});

suite("the lock on a data directory", () => {
  const held = (dataDir: string) => {
    try {
      lockDataDir(dataDir)();
      return false;
    } catch (error) {
      assert.ok(error instanceof OperatorError);
      assert.match(error.message, /Another authserve uses this DATA_DIR/);
      return true;
    }
  };

  test("is held by one server until it is released", (t) => {
    const dataDir = tempDir(t);
    const release = lockDataDir(dataDir);
    assert.equal(held(dataDir), true);
    release();
    assert.equal(held(dataDir), false);
  });

  test("does not stop commands from opening the database", (t) => {
    const { dataDir, database } = tempDatabase(t);
    t.after(lockDataDir(dataDir));
    createMetadata(database).set("key", "value");
    assert.equal(createMetadata(database).get("key"), "value");
  });
});

test("opening an older database tells that it is updated, or that another program may be doing that", (t) => {
  const dataDir = tempDir(t);
  const old = new Sqlite(join(dataDir, DATABASE_FILE));
  t.after(() => void old.close());
  old.exec(stepsFrom(0)[0] ?? "");
  old.pragma(`application_id = ${APPLICATION_ID}`);
  old.pragma("user_version = 15");
  old.exec("PRAGMA journal_mode = WAL; BEGIN IMMEDIATE");
  assert.throws(() => openDatabase(dataDir, { busyTimeoutMs: 50 }), {
    message:
      "DATA_DIR/authserve.db has the older schema 15, and another program holds its lock, such as a server or a command that updates it: wait for it",
    exitCode: 1,
  });
  old.exec("ROLLBACK");
  const { log, lines } = recordingLog();
  openDatabase(dataDir, { log }).close();
  openDatabase(dataDir, { log }).close();
  assert.deepEqual(
    lines.map(({ event, fromSchema, toSchema }) => [event, fromSchema, toSchema]),
    [
      ["schema_updating", 15, SCHEMA],
      ["schema_updated", 15, SCHEMA],
    ],
  );
});

test("opening a database that another program locks names the cause", (t) => {
  const dataDir = tempDir(t);
  openDatabase(dataDir).close();
  const holder = new Sqlite(join(dataDir, DATABASE_FILE));
  t.after(() => void holder.close());
  holder.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT");
  assert.throws(() => openDatabase(dataDir, { busyTimeoutMs: 50 }), {
    message: "DATA_DIR/authserve.db cannot be opened: another program holds its lock; end that program, or wait for it",
    exitCode: 1,
  });
});
