import assert from "node:assert/strict";
import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import Sqlite from "better-sqlite3";
import { deliver, event, logIn, me } from "../helpers/client.ts";
import { authserve, EXECUTABLE, startProgram } from "../helpers/command.ts";
import { flipBits } from "../helpers/damage.ts";
import { type Server, startServer } from "../helpers/server.ts";
import { workingDir } from "../helpers/working-dir.ts";

const databaseOf = (server: Server) => join(server.dir, "data/authserve.db");

/** A server with some events, and a backup of it. */
async function withBackup(count = 20): Promise<{ server: Server; backup: string }> {
  const server = await startServer();
  for (let index = 0; index < count; index++) await deliver(server, event(`evt_${index}`));
  const backup = join(server.dir, "backup.db");
  const { code, stderr } = await server.run(["backup", backup]);
  assert.equal(code, 0, stderr);
  return { server, backup };
}

function eventCount(file: string): number {
  const database = new Sqlite(file, { readonly: true });
  try {
    return database.prepare("SELECT count(*) FROM events").pluck().get() as number;
  } finally {
    database.close();
  }
}

suite("authserve backup", () => {
  test("writes one whole file of mode 0600 beside a running server", async () => {
    const { server, backup } = await withBackup();
    await using _ = server;
    assert.equal(statSync(backup).mode & 0o777, 0o600);
    assert.equal(eventCount(backup), 20);
    assert.deepEqual(
      readdirSync(server.dir).filter((file) => file.startsWith("backup.db")),
      ["backup.db"],
    );
  });

  test("is consistent and ends while deliveries keep coming, and loses none of them", async () => {
    await using server = await startServer();
    let isOver = false;
    let accepted = 0;
    const senders = [0, 1, 2, 3].map(async (sender) => {
      for (let index = 0; !isOver; index++) {
        const body = { ...event(`evt_${sender}_${index}`), padding: "x".repeat(2000) };
        if ((await deliver(server, body)).status === 200) accepted++;
      }
    });
    for (let round = 0; round < 5; round++) {
      const before = accepted;
      const file = join(server.dir, `backup-${round}.db`);
      const { code, stdout, stderr } = await server.run(["backup", file, "--json"]);
      assert.equal(code, 0, stderr);
      assert.deepEqual(JSON.parse(stdout), { file, bytes: statSync(file).size });
      assert.ok(eventCount(file) >= before);
    }
    isOver = true;
    await Promise.all(senders);
    assert.equal(eventCount(databaseOf(server)), accepted);
  });

  test("draws its progress on a terminal", async () => {
    await using server = await startServer();
    const line = `${EXECUTABLE} backup ${join(server.dir, "backup.db")}`;
    const command = startProgram("script", ["-qec", line, "/dev/null"], { dir: server.dir, env: server.env });
    assert.equal((await command.exited).code, 0);
    assert.match(command.stdout(), /\[#{40}\] 100 %/);
  });

  test("replaces an earlier backup, and nothing else", async () => {
    const { server, backup } = await withBackup(3);
    await using _ = server;
    await deliver(server, event("evt_later"));
    assert.equal((await server.run(["backup", backup])).code, 0);
    assert.equal(eventCount(backup), 4);
    const notes = join(server.dir, "notes.txt");
    writeFileSync(notes, "keep me");
    assert.match((await server.run(["backup", notes])).stderr, /is no backup of authserve: name another file/);
    assert.equal(readFileSync(notes, "utf8"), "keep me");
    assert.match((await server.run(["backup", databaseOf(server)])).stderr, /is the database itself/);
  });

  test("never replaces what a server writes to, its own or another's", async () => {
    await using other = await startServer();
    await deliver(other, event("evt_other"));
    const { server, backup } = await withBackup(1);
    await using _ = server;
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
    assert.equal((await other.run(["restore", backup])).code, 0);
    assert.equal((await server.run(["backup", databaseOf(other)])).code, 2);
  });

  test("removes a log that lies where its own would, which would be taken for it", async () => {
    const { server, backup } = await withBackup(50);
    await using _ = server;
    rmSync(backup);
    copyFileSync(`${databaseOf(server)}-wal`, `${backup}-wal`);
    await deliver(server, event("evt_later"));
    assert.equal((await server.run(["backup", backup])).code, 0);
    await server.stop();
    assert.equal((await server.run(["restore", backup])).code, 0);
    assert.equal(eventCount(databaseOf(server)), 51);
  });

  test("a database that is damaged gives no backup and leaves no half file", async () => {
    const { server, backup } = await withBackup();
    await using _ = server;
    await server.stop();
    const before = readFileSync(backup);
    flipBits(databaseOf(server));
    const { code, stderr } = await server.run(["backup", backup]);
    assert.notEqual(code, 0);
    assert.match(
      stderr,
      /^authserve: .* is damaged .*: (?:no backup was written; see authserve doctor|restore a backup)/,
    );
    assert.ok(readFileSync(backup).equals(before));
    assert.deepEqual(
      readdirSync(server.dir).filter((file) => file.includes("partial")),
      [],
    );
  });
});

suite("authserve restore", () => {
  test("refuses while a server runs", async () => {
    const { server, backup } = await withBackup();
    await using _ = server;
    const { code, stderr } = await server.run(["restore", backup]);
    assert.equal(code, 2);
    assert.match(stderr, /Another authserve serves this DATA_DIR: stop it/);
    assert.equal((await deliver(server, event("evt_after"))).status, 200);
  });

  test("brings the backup back, keeps what it replaced, and ends all sessions", async () => {
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
  });

  test("of the database that it kept brings back what was accepted before a kill -9", async () => {
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
    assert.ok(existsSync(`${kept}-wal`), "the log was kept as it was");
  });

  test("puts aside the log of a database that is gone, instead of writing it into the new one", async () => {
    await using first = await startServer();
    await deliver(first, event("evt_before"));
    const backup = join(first.dir, "backup.db");
    await first.run(["backup", backup]);
    await deliver(first, event("evt_after"));
    await first.kill();
    assert.ok(existsSync(`${databaseOf(first)}-wal`));
    rmSync(databaseOf(first));
    const { code, stdout } = await first.run(["restore", backup, "--json"]);
    assert.deepEqual([code, JSON.parse(stdout).kept], [0, null]);
    assert.equal(eventCount(databaseOf(first)), 1);
    assert.equal(readdirSync(join(first.dir, "data")).filter((file) => /replaced-.*-wal$/.test(file)).length, 1);
  });

  test("clears what one left that was killed, and does not take it for a backup", async () => {
    const { server, backup } = await withBackup();
    await using _ = server;
    await server.stop();
    const left = `${databaseOf(server)}.restoring`;
    writeFileSync(left, "half a copy");
    const refused = await server.run(["restore", left]);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /name the backup itself/);
    assert.equal((await server.run(["restore", backup])).code, 0);
    assert.ok(!existsSync(left));
  });

  for (const [what, file, message] of [
    ["that is not there", "nope.db", /^authserve: nope\.db is not there: name a backup file; nothing was changed\n$/],
    ["below a file", "file/backup.db", /^authserve: file\/backup\.db is not there: name a backup file/],
    ["that is a directory", ".", /^authserve: \. is a directory: name a backup file; nothing was changed\n$/],
    ["without a name", "", /^authserve: A file without a name is not there: name a backup file/],
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
      /no backup of authserve/,
    ],
    [
      "of a newer version",
      (file: string) => new Sqlite(file).exec("PRAGMA user_version = 999").close(),
      /run the newer authserve/,
    ],
    ["that is text", (file: string) => writeFileSync(file, "not a database ".repeat(1000)), /damaged or cut short/],
  ] as const) {
    test(`refuses a file ${what}, and changes nothing`, async () => {
      const { server, backup } = await withBackup();
      await using _ = server;
      await server.stop();
      spoil(backup);
      const before = readFileSync(databaseOf(server));
      const { code, stderr } = await server.run(["restore", backup]);
      assert.equal(code, 1);
      assert.match(stderr, message);
      assert.ok(readFileSync(databaseOf(server)).equals(before));
      assert.deepEqual(
        readdirSync(join(server.dir, "data")).filter((file) => /restoring|replaced/.test(file)),
        [],
      );
    });
  }

  test("takes the place of a damaged database, which is kept", async () => {
    const { server, backup } = await withBackup();
    await using _ = server;
    await server.stop();
    flipBits(databaseOf(server));
    assert.equal((await server.run(["restore", backup])).code, 0);
    assert.equal(eventCount(databaseOf(server)), 20);
    assert.ok(readdirSync(join(server.dir, "data")).some((file) => file.includes("replaced-")));
  });
});

suite("a damaged database", () => {
  test("serve names the damage, exits 2 and changes no byte", async () => {
    const { server } = await withBackup();
    await using _ = server;
    await server.stop();
    flipBits(databaseOf(server));
    const before = readFileSync(databaseOf(server));
    const { code, stderr } = await server.run(["serve"]);
    assert.equal(code, 2);
    assert.match(stderr, /authserve\.db is damaged .*authserve restore/);
    assert.ok(readFileSync(databaseOf(server)).equals(before));
  });

  test("doctor names the damage, exits 1 and changes no byte", async () => {
    const { server } = await withBackup();
    await using _ = server;
    await server.stop();
    flipBits(databaseOf(server));
    const before = readFileSync(databaseOf(server));
    const { code, stdout } = await server.run(["doctor"]);
    assert.equal(code, 1);
    assert.match(stdout, /^wrong +database /m);
    assert.ok(readFileSync(databaseOf(server)).equals(before));
  });
});
