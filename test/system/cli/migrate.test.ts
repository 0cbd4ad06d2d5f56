import assert from "node:assert/strict";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import Sqlite from "better-sqlite3";
import { openDatabase } from "../../../src/sqlite/database.ts";
import { authserve } from "../../helpers/command.ts";
import { startServer } from "../../helpers/server.ts";
import { tempDir } from "../../helpers/temp-dir.ts";

// No server listens on port 1.
const NOWHERE = "postgres://authserve:hunter2@127.0.0.1:1/authserve";

const migrate = (from: string, url: string | undefined) =>
  authserve(["migrate", "--from", from], { dir: ".", env: { DATABASE_URL: url } });

suite("authserve migrate", () => {
  test("refuses a directory whose server runs", async () => {
    await using server = await startServer();
    const { code, stderr } = await migrate(join(server.dir, "data"), NOWHERE);
    assert.equal(code, 2);
    assert.match(stderr, /^error: a server uses .*\/data\n {2}hint: stop it, and run this again\n$/);
  });

  test("refuses a directory without a database, and does not create one", async (t) => {
    const dir = join(tempDir(t), "missing");
    const { code, stderr } = await migrate(dir, NOWHERE);
    assert.equal(code, 2);
    assert.match(stderr, /missing has no authserve\.db\n {2}hint: name the DATA_DIR/);
    assert.equal(existsSync(dir), false);
  });

  test("names remedies that use the SQLite store although DATABASE_URL is set", async (t) => {
    const dir = tempDir(t);
    openDatabase(dir).close();
    writeFileSync(join(dir, "authserve.db.restoring"), "");
    const unfinished = await migrate(dir, NOWHERE);
    assert.equal(unfinished.code, 2);
    assert.match(
      unfinished.stderr,
      /has an unfinished restore\n {2}hint: start the server once with DATA_DIR=.* and without DATABASE_URL/,
    );
    rmSync(join(dir, "authserve.db.restoring"));
    const database = new Sqlite(join(dir, "authserve.db"));
    database.pragma("user_version = 6");
    database.close();
    assert.match((await migrate(dir, NOWHERE)).stderr, /has schema 6, of a version before the first release/);
  });

  test("needs a DATABASE_URL, and does not print a wrong one", async (t) => {
    const dir = tempDir(t);
    const unset = await migrate(dir, undefined);
    assert.equal(unset.code, 2);
    assert.match(unset.stderr, /^error: DATABASE_URL is not set\n {2}hint: set it/);
    const wrong = await migrate(dir, "mysql://authserve:hunter2@127.0.0.1/authserve");
    assert.equal(wrong.code, 2);
    assert.match(wrong.stderr, /^error: DATABASE_URL is no PostgreSQL URL\n/);
    assert.doesNotMatch(wrong.stderr, /hunter2/);
  });

  test("says that it can go on if the database does not answer", async (t) => {
    const dir = tempDir(t);
    openDatabase(dir).close();
    const { code, stderr } = await migrate(dir, NOWHERE);
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^error: the database of DATABASE_URL cannot be used \(.*ECONNREFUSED.*\)\n {2}hint: .*goes on/,
    );
    assert.doesNotMatch(stderr, /hunter2/);
  });
});
