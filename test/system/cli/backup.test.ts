import assert from "node:assert/strict";
import {
  closeSync,
  copyFileSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import Sqlite from "better-sqlite3";
import { openDatabase } from "../../../src/sqlite/database.ts";
import { localStores } from "../../../src/sqlite/stores.ts";
import { databaseOf, eventCount, withBackup } from "../../helpers/backup.ts";
import { deliver, event } from "../../helpers/client.ts";
import { authserve, EXECUTABLE, startProgram } from "../../helpers/command.ts";
import { flipBits, loseIndexEntry } from "../../helpers/damage.ts";
import { newEvent } from "../../helpers/events.ts";
import { settings, startServer } from "../../helpers/server.ts";
import { until } from "../../helpers/until.ts";
import { workingDir } from "../../helpers/working-dir.ts";

/**
 * The write version of a database file: 2 in WAL mode, else 1 (SQLite, File Format, 1.3.3); undefined if it is empty.
 */
function writeVersion(file: string): number | undefined {
  const header = Buffer.alloc(100);
  const fd = openSync(file, "r");
  try {
    return readSync(fd, header) === header.length ? header[18] : undefined;
  } finally {
    closeSync(fd);
  }
}

suite("authserve backup", async () => {
  const { server, backup: first } = await withBackup();
  after(() => server[Symbol.asyncDispose]());
  const storedCount = () => eventCount(databaseOf(server));

  async function backUp(name: string): Promise<string> {
    const file = join(server.dir, name);
    const { code, stderr } = await server.run(["backup", file]);
    assert.equal(code, 0, stderr);
    return file;
  }

  test("writes one whole file of mode 0600 beside a running server", () => {
    assert.equal(statSync(first).mode & 0o777, 0o600);
    assert.equal(eventCount(first), 20);
    assert.deepEqual(
      readdirSync(server.dir).filter((file) => file.startsWith("backup.db")),
      ["backup.db"],
    );
  });

  test("is consistent and ends while deliveries keep arriving, and none of them is lost", async () => {
    let isOver = false;
    let accepted = storedCount();
    const senders = [0, 1, 2, 3].map(async (sender) => {
      for (let index = 0; !isOver; index++) {
        const body = { ...event(`busy_${sender}_${index}`), padding: "x".repeat(2000) };
        if ((await deliver(server, body)).status === 200) accepted++;
      }
    });
    for (let round = 0; round < 3; round++) {
      const before = accepted;
      const file = join(server.dir, `busy-${round}.db`);
      const { code, stdout, stderr } = await server.run(["backup", file, "--json"]);
      assert.equal(code, 0, stderr);
      assert.deepEqual(JSON.parse(stdout), { file, bytes: statSync(file).size, damaged: [] });
      assert.ok(eventCount(file) >= before);
    }
    isOver = true;
    await Promise.all(senders);
    assert.equal(eventCount(databaseOf(server)), accepted);
  });

  test("shows its progress on one line of a terminal", async () => {
    const line = `${EXECUTABLE} backup ${join(server.dir, "shown.db")}`;
    for (const [columns, bar] of [
      [80, 30],
      [30, 21],
    ]) {
      const args = ["-qec", `stty cols ${columns}; ${line} --force`, "/dev/null"];
      const command = startProgram("script", args, { dir: server.dir, env: server.env });
      assert.equal((await command.exited).code, 0);
      assert.match(command.stdout(), new RegExp(`\\[#{${bar}}\\] 100 %`));
    }
  });

  test("with --keep removes all but the newest dated backups of a folder, and nothing else", async () => {
    const folder = join(server.dir, "kept");
    const keep = (count: string) => server.run(["backup", folder, "--keep", count]);
    assert.match((await keep("2")).stderr, /is not a folder, which --keep needs/);
    mkdirSync(folder);
    const older = ["authserve-20200101T000000Z.db", "authserve-20210101T000000Z.db", "authserve-20220101T000000Z.db"];
    for (const name of [...older, "notes.db"]) writeFileSync(join(folder, name), "");
    const { code, stderr } = await keep("2");
    assert.equal(code, 0, stderr);
    assert.match(stderr, /Removed 2 older backups\.$/m);
    const names = readdirSync(folder).sort();
    assert.deepEqual(names.toSpliced(1, 1), ["authserve-20220101T000000Z.db", "notes.db"]);
    assert.equal(eventCount(join(folder, names[1] ?? "")), storedCount());
    assert.equal((await keep("0")).code, 2);
  });

  test("replaces an earlier backup with --force only, and nothing else", async () => {
    const backup = await backUp("replaced.db");
    const before = storedCount();
    await deliver(server, event("evt_later"));
    const refused = await server.run(["backup", backup]);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /replaced\.db exists already: name another file, or replace it with --force\n$/);
    assert.equal(eventCount(backup), before);
    assert.equal((await server.run(["backup", "--force", backup])).code, 0);
    assert.equal(eventCount(backup), before + 1);
    const notes = join(server.dir, "notes.txt");
    writeFileSync(notes, "keep me");
    assert.match(
      (await server.run(["backup", notes])).stderr,
      /exists and is not an authserve backup: name another file/,
    );
    assert.equal(readFileSync(notes, "utf8"), "keep me");
    assert.match((await server.run(["backup", databaseOf(server)])).stderr, /is the database itself/);
  });

  test("never replaces a file of a server, its own or another's", async () => {
    await using other = await startServer();
    await deliver(other, event("evt_other"));
    const own = ["serve.lock", "authserve.db-wal", "authserve.db-journal"].map((name) =>
      join(server.dir, "data", name),
    );
    const renamed = join(server.dir, "copy.db");
    for (const end of ["", "-wal"]) copyFileSync(databaseOf(other) + end, renamed + end);
    for (const file of [databaseOf(other), ...own, renamed]) {
      const { code, stderr } = await server.run(["backup", file]);
      assert.equal(code, 2, file);
      assert.match(stderr, /is (?:a server's own file|a database that a server writes to): name another file/);
    }
    assert.equal(eventCount(databaseOf(other)), 1);
    assert.equal(eventCount(renamed), 1);
    await other.stop();
    assert.equal((await other.run(["restore", first])).code, 0);
    assert.equal((await server.run(["backup", databaseOf(other)])).code, 2);
  });

  test("reports a name that is too long, and leaves no file", async () => {
    // With the suffix of a temporary file the name is too long, or it is too long itself.
    for (const length of [237, 245, 255, 256]) {
      const file = join(server.dir, "b".repeat(length));
      const { code, stderr } = await server.run(["backup", file]);
      assert.equal(code, 1);
      assert.match(stderr, /^error: [^\n]*\n$/);
    }
    assert.deepEqual(
      readdirSync(server.dir).filter((file) => file.startsWith("bbb")),
      [],
    );
  });

  test("writes the file that a link names, and refuses a link to a missing file", async () => {
    const backup = await backUp("linked.db");
    await deliver(server, event("evt_linked"));
    const link = join(server.dir, "link.db");
    symlinkSync("linked.db", link);
    assert.equal((await server.run(["backup", "--force", link])).code, 0);
    assert.ok(lstatSync(link).isSymbolicLink());
    assert.equal(eventCount(backup), storedCount());
    rmSync(backup);
    const { code, stderr } = await server.run(["backup", link]);
    assert.equal(code, 2);
    assert.match(stderr, /link\.db is a link to a missing file: remove it, or create the file that it names\n$/);
    assert.ok(lstatSync(link).isSymbolicLink());
    writeFileSync(backup, "");
    assert.equal((await server.run(["backup", "--force", link])).code, 0);
    assert.equal(eventCount(backup), storedCount());
  });

  test("removes a write-ahead log beside the backup, which would be applied to it", async () => {
    const { server: stopping, backup } = await withBackup(50);
    await using _ = stopping;
    rmSync(backup);
    copyFileSync(`${databaseOf(stopping)}-wal`, `${backup}-wal`);
    await deliver(stopping, event("evt_later"));
    assert.equal((await stopping.run(["backup", backup])).code, 0);
    await stopping.stop();
    assert.equal((await stopping.run(["restore", backup])).code, 0);
    assert.equal(eventCount(databaseOf(stopping)), 51);
  });

  test("leaves no file when it is stopped while it copies or verifies", async () => {
    const place = await storedEvents(1);
    const database = new Sqlite(place.file);
    database.exec("CREATE TABLE filling (bytes BLOB); INSERT INTO filling VALUES (zeroblob(300000000))");
    database.close();
    const left = () => readdirSync(place.dir).filter((file) => file.startsWith("backup.db"));
    const copies = () => left().length > 0;
    // The copy is complete when it is no longer in the WAL mode of its original.
    const checks = () => left().some((file) => file.endsWith(".partial") && writeVersion(join(place.dir, file)) === 1);

    /** Sends a signal at a time of a backup. Returns false if the backup was complete before. */
    async function stopAt(signal: NodeJS.Signals, isTime: () => boolean): Promise<boolean> {
      const command = startProgram(EXECUTABLE, ["backup", join(place.dir, "backup.db")], place);
      await until(() => isTime() || command.child.exitCode !== null);
      command.child.kill(signal);
      const exit = await command.exited;
      if (exit.code === 0) {
        rmSync(join(place.dir, "backup.db"));
        return false;
      }
      assert.deepEqual(exit, { code: null, signal });
      assert.deepEqual(left(), []);
      return true;
    }

    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      for (const isTime of [copies, checks]) await until(() => stopAt(signal, isTime));
    }
  });

  test("removes the files of a killed backup, but not those of a running one", async () => {
    const backup = await backUp("cleared.db");
    const gone = startProgram("true", [], server);
    await gone.exited;
    const [left, kept] = [`${backup}.${gone.child.pid}.partial`, `${backup}.${process.pid}.partial`];
    for (const file of [left, `${left}-journal`, kept]) writeFileSync(file, "half a copy");
    assert.equal((await server.run(["backup", "--force", backup])).code, 0);
    assert.deepEqual(
      readdirSync(server.dir).filter((file) => file.startsWith("cleared.db")),
      ["cleared.db", `cleared.db.${process.pid}.partial`],
    );
  });

  test("a damaged database gives no backup and no partial file", async () => {
    const { dir, env, file } = await storedEvents(20);
    const backup = join(dir, "backup.db");
    copyFileSync(file, backup);
    const before = readFileSync(backup);
    flipBits(file);
    const { code, stderr } = await authserve(["backup", backup], { dir, env });
    assert.notEqual(code, 0);
    assert.match(stderr, /^error: .* is damaged .*: (?:no backup was written; run authserve doctor|restore a backup)/);
    assert.ok(readFileSync(backup).equals(before));
    assert.deepEqual(
      readdirSync(dir).filter((name) => name.includes("partial")),
      [],
    );
  });

  test("an event whose bytes have changed is named, and the backup has all others", async () => {
    const { dir, env, file } = await storedEvents(20);
    const database = new Sqlite(file);
    database.exec("UPDATE contents SET payload = CAST('other' AS BLOB) WHERE event = 7").close();
    const { code, stderr } = await authserve(["backup", "backup.db"], { dir, env });
    assert.equal(code, 1);
    assert.match(
      stderr,
      /error: backup\.db is written, but the stored bytes of event evt_6 of source \S+ do not match their checksum/,
    );
    const copy = new Sqlite(join(dir, "backup.db"));
    assert.equal(copy.prepare("SELECT count(*) FROM contents").pluck().get(), 20);
    copy.close();
  });

  test("an index without one of the events gives no backup, because a restore would refuse it", async () => {
    const { dir, env, file } = await storedEvents(20);
    loseIndexEntry(file);
    const { code, stderr } = await authserve(["backup", "backup.db"], { dir, env });
    assert.equal(code, 1);
    assert.match(stderr, /^error: The database is damaged \(.*events_identity\): no backup was written/);
  });
});

/** A database with events, and no server. */
async function storedEvents(count: number) {
  const dir = workingDir();
  const database = openDatabase(join(dir, "data"));
  await localStores(database).events.append(Array.from({ length: count }, (_, n) => newEvent({ eventId: `evt_${n}` })));
  database.close();
  return { dir, env: settings(dir), file: join(dir, "data/authserve.db") };
}
