import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { rmSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openDatabase } from "../../src/sqlite/database.ts";
import { needsMount } from "../helpers/back-end.ts";
import { ask, assertProblem, deliver, event, logIn, me } from "../helpers/client.ts";
import { type Server, serveRefused, startServer } from "../helpers/server.ts";
import { fill, fillWithFiles, mountDisk, mountSmallDisk } from "../helpers/small-disk.ts";
import { list, settled, show } from "../helpers/stored-events.ts";
import { until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";

// Deliveries are not paused before the disk is full.
const UNTIL_FULL = { MIN_FREE_DISK: "0" };

test(
  "on a full disk deliveries are answered 503 and not stored, and with room again they are accepted",
  needsMount(),
  async (t) => {
    const dir = workingDir();
    mountSmallDisk(t, join(dir, "data"));
    await using server = await startServer({ dir, env: UNTIL_FULL });
    const token = await logIn(server);
    for (const id of ["before-1", "before-2", "before-3"]) {
      assert.equal((await deliver(server, event(id))).status, 200);
      await settled(server, id);
    }

    fill(join(dir, "data", "filler"));
    const accepted: string[] = [];
    let refused = 0;
    // The allocated part of the write-ahead log may still hold a little.
    for (let n = 0; n < 60 && refused < 3; n++) {
      const id = `during-${n}`;
      const answer = await deliver(server, event(id, { pad: "x".repeat(20_000) }));
      if (answer.status === 200) accepted.push(id);
      else {
        assertProblem(answer, 503, "store_unavailable");
        assert.match(answer.headers.get("retry-after") ?? "", /^[1-9][0-9]*$/);
        refused++;
      }
    }
    assert.equal(refused, 3);
    assert.equal((await ask(server, "/readyz")).status, 503);
    assert.equal((await me(server, token)).status, 200);

    rmSync(join(dir, "data", "filler"));
    await until(async () => (await deliver(server, event("after"))).status === 200);
    await settled(server, "after");
    assert.equal((await ask(server, "/readyz")).status, 200);
    const stored = await list(server);
    assert.deepEqual(
      stored.map(({ eventId }) => eventId).sort(),
      ["after", "before-1", "before-2", "before-3", ...accepted].sort(),
    );
    assert.equal((await show(server, "before-1")).payload, JSON.stringify(event("before-1")));
    assert.equal((await server.stop()).code, 0);
  },
);

test("the write-ahead log does not fill a small disk", needsMount(), async (t) => {
  const dir = workingDir();
  mountSmallDisk(t, join(dir, "data"));
  await using server = await startServer({ dir, env: UNTIL_FULL });
  // Each of these writes 30 KB to the write-ahead log, including its processing.
  for (let n = 0; n < 400; n++) assert.equal((await deliver(server, event(`small-${n}`))).status, 200);
  await settled(server, "small-399");

  fill(join(dir, "data", "filler"));
  for (let n = 0; (await deliver(server, event(`full-${n}`, { pad: "x".repeat(20_000) }))).status === 200; n++);
  truncateSync(join(dir, "data", "filler"), statSync(join(dir, "data", "filler")).size - 700_000);
  await until(async () => (await deliver(server, event("room"))).status === 200);
  for (let n = 0; n < 200; n++) assert.equal((await deliver(server, event(`again-${n}`))).status, 200);
  await settled(server, "again-199");
});

test("a server is not ready after its disk had no room for a delivery", needsMount(), async (t) => {
  const dir = workingDir();
  const filler = join(dir, "data", "filler");
  mountSmallDisk(t, join(dir, "data"));
  await using server = await startServer({ dir, env: UNTIL_FULL });
  fill(filler);
  // The tables may still move from the write-ahead log to the database, which takes half of this.
  truncateSync(filler, statSync(filler).size - 600_000);
  const large = event("large", { pad: "x".repeat(600_000) });
  assertProblem(await deliver(server, large), 503, "store_unavailable");
  assert.equal((await ask(server, "/readyz")).status, 503);
  // A change this small still fits.
  await logIn(server);
  assert.equal((await ask(server, "/readyz")).status, 503);
  rmSync(filler);
  await until(async () => (await ask(server, "/readyz")).status === 200);
  assert.equal((await deliver(server, large)).json.duplicate, false);
});

test(
  "a server that cannot start on a full disk reports it, with the exit code for a restart",
  needsMount(),
  async (t) => {
    const dir = workingDir();
    mountSmallDisk(t, join(dir, "data"));
    await using server = await startServer({ dir });
    assert.equal((await deliver(server, event("before"))).status, 200);
    await server.stop();
    const filler = join(dir, "data", "filler");
    fill(filler);
    // First there is no room for the lock; then for the lock, but not for SQLite's files beside the database.
    for (const room of [0, 4096, 8192]) {
      truncateSync(filler, statSync(filler).size - room);
      const refused = await serveRefused({}, dir);
      assert.equal(refused.code, 1, refused.stderr);
      assert.match(refused.stderr, /^error: DATA_DIR.* on a disk with space/m);
      assert.doesNotMatch(refused.stderr, /damaged|restore/);
    }
    const { stdout } = await server.run(["doctor"]);
    assert.match(stdout, /^wrong +database +cannot be read \(SQLITE_IOERR.*\) → .* space/m);
    rmSync(filler);
    await using again = await startServer({ dir });
    assert.equal((await deliver(again, event("before"))).json.duplicate, true);
  },
);

test("a disk without free inodes refuses a start like a full one", needsMount(), async (t) => {
  const dir = workingDir();
  const data = join(dir, "data");
  mountDisk(t, data, "8m", 20);
  await using server = await startServer({ dir });
  assert.equal((await deliver(server, event("before"))).status, 200);
  await server.stop();
  const files = fillWithFiles(data);
  const { stdout } = await server.run(["doctor"]);
  assert.match(stdout, /^wrong +database +cannot be read \(ENOSPC: the file system has no room for another file\)/m);
  // First the lock's journal cannot be created; then it can, but not the database's log or its index.
  for (const free of [0, 1, 2]) {
    if (free > 0) rmSync(files.pop() as string);
    const refused = await serveRefused({}, dir);
    assert.equal(refused.code, 1, refused.stderr);
    assert.match(
      refused.stderr,
      /^error: DATA_DIR.* \(ENOSPC: the file system has no room for another file\).* on a disk with space/m,
    );
  }
  rmSync(files.pop() as string);
  await using again = await startServer({ dir });
  assert.equal((await deliver(again, event("before"))).json.duplicate, true);
});

/**
 * Limits the file size of a running server, like a quota that does not show as free space. Infinity removes the limit.
 */
function boundFiles({ pid }: Server, bytes: number): void {
  const soft = Number.isFinite(bytes) ? bytes : "unlimited";
  const { status, stderr } = spawnSync("prlimit", ["--pid", String(pid), `--fsize=${soft}:unlimited`]);
  assert.equal(status, 0, String(stderr));
}

test("a server over its quota is not ready, and recovers when it can write again", async () => {
  await using server = await startServer();
  assert.equal((await deliver(server, event("before"))).status, 200);
  await settled(server, "before");
  boundFiles(server, 600_000);
  const large = event("large", { pad: "x".repeat(700_000) });
  for (let round = 0; round < 3; round++) {
    assertProblem(await deliver(server, large), 503, "store_unavailable");
    assert.equal((await ask(server, "/readyz")).status, 503);
    // A change this small still fits.
    await logIn(server);
    assert.equal((await ask(server, "/readyz")).status, 503);
  }
  boundFiles(server, Number.POSITIVE_INFINITY);
  await until(async () => (await ask(server, "/readyz")).status === 200);
  assert.equal((await deliver(server, large)).json.duplicate, false);
  const database = openDatabase(String(server.env.DATA_DIR));
  assert.deepEqual(database.prepare("SELECT key FROM metadata WHERE length(value) > 1000").all(), []);
  database.close();
});

test("a write-ahead log that cannot grow is checkpointed to make room", async () => {
  await using server = await startServer();
  // After a lost change a check of readiness adds 1 MiB to the database for a moment. The limit has room for it.
  boundFiles(server, 4_000_000);
  let stored = 0;
  for (let n = 0; stored < 90; n++) {
    const { status } = await deliver(server, event(`one-${n}`, { pad: "x".repeat(20_000) }));
    if (status === 200) stored++;
    else await until(async () => (await deliver(server, event("again", { n }))).status === 200);
  }
});
