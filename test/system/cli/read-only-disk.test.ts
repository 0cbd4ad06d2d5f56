import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { needsFreeze, needsMount } from "../../helpers/back-end.ts";
import { ask, deliver, event } from "../../helpers/client.ts";
import { type Server, startServer } from "../../helpers/server.ts";
import { mountDisk, mountImage } from "../../helpers/small-disk.ts";
import { settled } from "../../helpers/stored-events.ts";
import { workingDir } from "../../helpers/working-dir.ts";

function remountReadOnly(disk: string): void {
  const { status, stderr } = spawnSync("mount", ["-o", "remount,ro", disk], { encoding: "utf8" });
  assert.equal(status, 0, stderr);
}

/** Reading commands work, a backup to another disk is complete, and `doctor` names the disk. */
async function assertReadable(server: Server, ids: string[]): Promise<void> {
  const json = async (...args: string[]) => {
    const { code, stdout, stderr } = await server.run([...args, "--json"]);
    assert.equal(code, 0, `${args.join(" ")}: ${stderr}`);
    return JSON.parse(stdout);
  };
  const listed = (await json("events", "list")) as { eventId: string }[];
  assert.deepEqual(listed.map(({ eventId }) => eventId).sort(), ids);
  assert.equal((await json("events", "show", String(ids[0]))).payload, JSON.stringify(event(String(ids[0]))));
  assert.deepEqual(await json("alerts", "list"), []);
  for (const command of [
    ["events", "stats"],
    ["sources", "list"],
    ["routes", "list"],
    ["session", "show"],
  ]) {
    await json(...command);
  }

  const backup = join(server.dir, "copy.db");
  await json("backup", backup);
  const restored = join(server.dir, "restored");
  assert.equal((await server.run(["restore", backup], { DATA_DIR: restored })).code, 0);
  const { stdout } = await server.run(["events", "list", "--json"], { DATA_DIR: restored });
  assert.deepEqual(JSON.parse(stdout), listed);

  const doctor = await server.run(["doctor"]);
  assert.equal(doctor.code, 1);
  assert.match(doctor.stdout, /^ok +database +quick_check found no damage/m);
  assert.match(
    doctor.stdout,
    /^wrong +fsync +DATA_DIR cannot be written \(EROFS: .*\) → see the system's log for errors/m,
  );

  const changed = await server.run(["events", "replay", String(ids[0]), "--force"]);
  assert.equal(changed.code, 1);
  assert.match(changed.stderr, /^error: .*SQLITE_READONLY.*\n {2}hint: run authserve doctor/);
}

suite("a read-only disk is read, backed up and diagnosed", { concurrency: true }, () => {
  for (const [how, prepare] of [
    ["after a kill", (server: Server) => server.kill()],
    ["after a stop", (server: Server) => server.stop()],
    [
      "without the index of its log",
      async (server: Server) => {
        await server.kill();
        rmSync(join(server.dir, "data/authserve.db-shm"));
      },
    ],
  ] as const) {
    test(how, needsMount(), async (t) => {
      const dir = workingDir();
      const disk = join(dir, "data");
      mountDisk(t, disk, "64m");
      await using server = await startServer({ dir });
      for (const id of ["one", "two"]) assert.equal((await deliver(server, event(id))).status, 200);
      await settled(server, "two");
      await prepare(server);
      remountReadOnly(disk);
      await assertReadable(server, ["one", "two"]);
      const refused = await server.run(["serve"]);
      assert.match(refused.stderr, /^error: DATA_DIR cannot be written \(.*EROFS/);
    });
  }

  test("while the server runs", needsFreeze(), async (t) => {
    const dir = workingDir();
    const disk = join(dir, "data");
    mountImage(t, disk);
    await using server = await startServer({ dir });
    for (const id of ["one", "two"]) assert.equal((await deliver(server, event(id))).status, 200);
    await settled(server, "two");
    // As the system does after an error of the disk.
    spawnSync("mount", ["-o", "remount,abort", disk]);
    assert.equal((await deliver(server, event("refused"))).status, 503);
    assert.equal((await ask(server, "/readyz")).status, 503);
    await assertReadable(server, ["one", "two"]);
    const { stdout } = await server.run(["doctor"]);
    assert.match(stdout, /^wrong +server +http.*\/readyz says 503/m);
  });
});
