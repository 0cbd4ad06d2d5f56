import assert from "node:assert/strict";
import {
  copyFileSync,
  cpSync,
  existsSync,
  linkSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { suite, test } from "node:test";
import Sqlite from "better-sqlite3";
import { lockDataDir } from "../../../src/sqlite/data-dir.ts";
import { inspectDatabase } from "../../../src/sqlite/maintenance/inspect.ts";
import { RECORD_STEPS } from "../../../src/sqlite/schema.ts";
import { databaseOf, eventCount, withBackup } from "../../helpers/backup.ts";
import { deliver, event, logIn, me } from "../../helpers/client.ts";
import { authserve, type Finished } from "../../helpers/command.ts";
import { flipBits } from "../../helpers/damage.ts";
import { settings, startServer } from "../../helpers/server.ts";
import { workingDir } from "../../helpers/working-dir.ts";

suite("authserve restore", async () => {
  const killed = await killServer();
  const stopped = await stopServer();

  test("refuses while a server runs", async () => {
    const { server, backup } = await withBackup();
    await using _ = server;
    const { code, stderr } = await server.run(["restore", backup]);
    assert.equal(code, 2);
    assert.match(stderr, /Another authserve uses this DATA_DIR: stop it/);
    assert.equal((await deliver(server, event("evt_after"))).status, 200);
  });

  test("restores the backup, keeps the old database, and ends all sessions", async () => {
    await using first = await startServer();
    const token = await logIn(first);
    await deliver(first, event("evt_before"));
    const backup = join(first.dir, "backup.db");
    await first.run(["backup", backup]);
    await deliver(first, event("evt_after"));
    await first.stop();
    const { code, stdout, stderr } = await first.run(["restore", backup, "--json"]);
    assert.equal(code, 0, stderr);
    const { kept } = JSON.parse(stdout) as { kept: string };
    assert.equal(eventCount(kept), 2);
    assert.equal(statSync(databaseOf(first)).mode & 0o777, 0o600);
    await using second = await startServer({ dir: first.dir });
    assert.equal((await me(second, token)).status, 401);
    assert.equal((await deliver(second, event("evt_before"))).json.duplicate, true);
    assert.equal((await deliver(second, event("evt_after"))).json.duplicate, false);
    const erased = await second.run(["events", "erase", "evt_before", "--reason", "asked for"]);
    assert.ok(erased.stderr.includes(`rm -- ${kept}`), erased.stderr);
  });

  test("through a link keeps the link, and the old database with all events accepted before a kill -9", async () => {
    const first = copyOf(killed);
    const elsewhere = workingDir();
    const file = join(elsewhere, "elsewhere.db");
    for (const end of ["", "-wal"]) copyFileSync(first.database + end, file + end);
    for (const end of ["", "-wal", "-shm"]) rmSync(first.database + end);
    symlinkSync(file, first.database);
    const { code, stdout, stderr } = await first.run(["restore", first.backup, "--json"]);
    assert.equal(code, 0, stderr);
    const { kept } = JSON.parse(stdout) as { kept: string };
    assert.deepEqual(readdirSync(elsewhere).sort(), ["elsewhere.db", basename(kept)]);
    assert.deepEqual([eventCount(file), eventCount(kept)], [1, 2]);
    assert.ok(lstatSync(first.database).isSymbolicLink());
  });

  test("of a link includes the write-ahead log beside the linked file", async () => {
    const first = copyOf(killed);
    const link = join(first.dir, "link.db");
    symlinkSync(first.database, link);
    const env = { DATA_DIR: join(first.dir, "other") };
    assert.equal((await first.run(["restore", link], env)).code, 0);
    assert.equal(eventCount(join(env.DATA_DIR, "authserve.db")), 2);
  });

  test("of the kept database restores all events accepted before a kill -9", async () => {
    await using first = await startServer();
    await deliver(first, event("evt_before"));
    const backup = join(first.dir, "backup.db");
    await first.run(["backup", backup]);
    for (let index = 0; index < 5; index++)
      assert.equal((await deliver(first, event(`evt_after_${index}`))).status, 200);
    await first.kill();
    const { kept } = JSON.parse((await first.run(["restore", backup, "--json"])).stdout) as { kept: string };
    const { code, stderr } = await first.run(["restore", kept]);
    assert.equal(code, 0, stderr);
    assert.equal(eventCount(databaseOf(first)), 6);
    assert.ok(!existsSync(`${kept}-wal`), "its log was taken in");
  });

  test("moves the log of a missing database away, instead of applying it to the new one", async () => {
    const first = copyOf(killed);
    rmSync(first.database);
    const { code, stdout } = await first.run(["restore", first.backup, "--json"]);
    assert.deepEqual([code, JSON.parse(stdout).kept], [0, null]);
    assert.equal(eventCount(first.database), 1);
    assert.equal(readdirSync(join(first.dir, "data")).filter((file) => /replaced-.*-wal$/.test(file)).length, 1);
  });

  test("keeps the log of an emptied database unchanged", async () => {
    const first = copyOf(killed);
    truncateSync(first.database);
    const log = readFileSync(`${first.database}-wal`);
    const { code, stdout } = await first.run(["restore", first.backup, "--json"]);
    const { kept } = JSON.parse(stdout) as { kept: string };
    assert.equal(code, 0);
    assert.equal(eventCount(first.database), 1);
    assert.ok(readFileSync(`${kept}-wal`).equals(log));
  });

  test("keeps other commands out of the database", async () => {
    const first = copyOf(killed);
    const file = first.database;
    const log = readFileSync(`${file}-wal`);
    // The first step of a restore.
    const release = lockDataDir(dirname(file));
    writeFileSync(`${file}.restoring`, "");
    const { code, stderr } = await first.run(["events", "stats"]);
    release();
    assert.equal(code, 1);
    assert.match(stderr, /^error: DATA_DIR\/authserve\.db is being replaced by a restore: try again/);
    assert.ok(readFileSync(`${file}-wal`).equals(log));
  });

  test("removes the files of a killed restore, and refuses them as a backup", async () => {
    const server = copyOf(stopped);
    const left = `${server.database}.restoring`;
    writeFileSync(left, "half a copy");
    const refused = await server.run(["restore", left]);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /name the backup itself/);
    assert.equal((await server.run(["restore", server.backup])).code, 0);
    assert.ok(!existsSync(left));
  });

  test("that was killed before it replaced anything has no effect, also on later changes", async () => {
    const first = copyOf(killed);
    const database = first.database;
    beginRestore(first.backup, database);
    // The next program that opens the database checkpoints its log and removes it.
    assert.equal((await first.run(["session", "revoke"])).code, 0);
    assert.equal((await first.run(["events", "list"])).code, 0);
    assert.ok(!existsSync(`${database}-wal`));
    await using second = await startServer({ dir: first.dir });
    assert.equal((await me(second, first.token)).status, 401);
    for (const id of ["evt_before", "evt_after"]) {
      assert.equal((await deliver(second, event(id))).json.duplicate, true);
    }
    await deliver(second, event("evt_new"));
    await second.stop();
    assert.deepEqual(inspectDatabase(database, { whole: true }).damage, []);
    assert.equal(eventCount(database), 3);
    assert.deepEqual(namesBeside(first), []);
  });

  for (const step of ["has taken the log away", "has put the backup in its place"]) {
    test(`that was killed when it ${step} is finished by the next start`, async () => {
      const first = copyOf(killed);
      const database = first.database;
      beginRestore(first.backup, database);
      renameSync(`${database}-wal`, `${database}.replacing-${TIME}-wal`);
      rmSync(`${database}-shm`);
      if (step.endsWith("place")) renameSync(`${database}.restoring`, database);
      await using second = await startServer({ dir: first.dir });
      assert.equal((await deliver(second, event("evt_after"))).json.duplicate, false);
      await second.stop();
      const kept = `authserve.db.replaced-${TIME}`;
      assert.deepEqual(namesBeside(first), [kept, `${kept}-wal`]);
      const { code, stderr } = await first.run(["restore", join(first.dir, "data", kept)]);
      assert.equal(code, 0, stderr);
      assert.equal(eventCount(database), 2);
    });
  }

  test("gives kept databases names that a backup may not have", async () => {
    for (const end of [".restoring", `.replacing-${TIME}`]) {
      const { code, stderr } = await stopped.run(["backup", stopped.database + end]);
      assert.equal(code, 2);
      assert.match(stderr, /is a server's own file/);
    }
  });

  for (const [what, file, message] of [
    ["that is not there", "nope.db", /^error: nope\.db does not exist: name a backup file; nothing was changed\n$/],
    ["below a file", "file/backup.db", /^error: file\/backup\.db does not exist: name a backup file/],
    ["that is a directory", ".", /^error: \. is a directory: name a backup file; nothing was changed\n$/],
    ["without a name", "", /^error: An empty path does not exist: name a backup file/],
  ] as const) {
    test(`refuses a file ${what}, and makes no DATA_DIR`, async () => {
      const dir = workingDir();
      writeFileSync(join(dir, "file"), "");
      const { code, stdout, stderr } = await authserve(["restore", file], { dir });
      assert.deepEqual([code, stdout], [1, ""]);
      assert.match(stderr, message);
      assert.deepEqual(readdirSync(dir), ["file"]);
    });
  }

  for (const [what, spoil, message] of [
    ["cut in half", (file: string) => truncateSync(file, statSync(file).size / 2), /damaged or cut short/],
    ["with flipped bits", flipBits, /damaged or cut short/],
    [
      "of another program",
      (file: string) => new Sqlite(file).exec("PRAGMA application_id = 1").close(),
      /not an authserve backup/,
    ],
    [
      "of a newer version",
      (file: string) => new Sqlite(file).exec("PRAGMA user_version = 999").close(),
      /run authserve \S+ or newer/,
    ],
    [
      "of a version before the first release",
      (file: string) => new Sqlite(file).exec("PRAGMA user_version = 6").close(),
      /before the first release.*: use another backup, or restore it with the authserve that made it; nothing was changed/,
    ],
    [
      "that another step of the schema has made",
      (file: string) => {
        const database = new Sqlite(file);
        database.prepare(RECORD_STEPS).run('["other"]');
        database.close();
      },
      /has another schema 15 than this version: use another backup/,
    ],
    ["that is text", (file: string) => writeFileSync(file, "not a database ".repeat(1000)), /damaged or cut short/],
  ] as const) {
    test(`refuses a file ${what}, and changes nothing`, async () => {
      const server = copyOf(stopped);
      spoil(server.backup);
      const before = readFileSync(server.database);
      const { code, stderr } = await server.run(["restore", server.backup]);
      assert.equal(code, 1);
      assert.match(stderr, message);
      assert.ok(readFileSync(server.database).equals(before));
      assert.deepEqual(
        readdirSync(join(server.dir, "data")).filter((file) => /restoring|replaced/.test(file)),
        [],
      );
    });
  }

  test("replaces a damaged database, and keeps it", async () => {
    const server = copyOf(stopped);
    flipBits(server.database);
    assert.equal((await server.run(["restore", server.backup])).code, 0);
    assert.equal(eventCount(server.database), 20);
    assert.ok(readdirSync(join(server.dir, "data")).some((file) => file.includes("replaced-")));
  });
});

/** The data of a server that has ended. */
interface Ended {
  dir: string;
  /** The token of its session. */
  token: string;
  database: string;
  backup: string;
  run(args: readonly string[], env?: Record<string, string>): Promise<Finished>;
}

function ended(dir: string, token = ""): Ended {
  const env = settings(dir);
  return {
    dir,
    token,
    database: join(dir, "data/authserve.db"),
    backup: join(dir, "backup.db"),
    run: (args, more = {}) => authserve(args, { dir, env: { ...env, ...more } }),
  };
}

/** Copies the data of a server that has ended, so that a test may change it. */
function copyOf(original: Ended): Ended {
  const dir = workingDir();
  cpSync(original.dir, dir, { recursive: true });
  return ended(dir, original.token);
}

/** A server that was stopped, and a backup of all its events. */
async function stopServer(): Promise<Ended> {
  const { server } = await withBackup();
  await server.stop();
  return ended(server.dir);
}

/** A server that was killed with an event in its log, and a backup from before that event. */
async function killServer(): Promise<Ended> {
  const server = await startServer();
  await deliver(server, event("evt_before"));
  const backup = join(server.dir, "backup.db");
  await server.run(["backup", backup]);
  await deliver(server, event("evt_after"));
  const token = await logIn(server);
  await server.kill();
  assert.ok(statSync(`${databaseOf(server)}-wal`).size > 0);
  return ended(server.dir, token);
}

const TIME = "2026-01-31T12-00-00-123Z";

/** Does the steps of a restore before it replaces anything, except for the checkpoint of the log. */
function beginRestore(backup: string, database: string): void {
  copyFileSync(backup, `${database}.restoring`);
  linkSync(database, `${database}.replacing-${TIME}`);
}

/** The files that a restore left in the data directory, beside the database. */
function namesBeside({ dir }: { dir: string }): string[] {
  return readdirSync(join(dir, "data"))
    .filter((name) => /\.(?:restoring|replac)/.test(name))
    .sort();
}
