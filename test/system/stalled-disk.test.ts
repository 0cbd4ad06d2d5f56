import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { timeout } from "../../src/lib/timeout.ts";
import { needsFreeze } from "../helpers/back-end.ts";
import { ask, assertProblem, deliver, event, logIn, me } from "../helpers/client.ts";
import { startServer } from "../helpers/server.ts";
import { list } from "../helpers/stored-events.ts";
import type { Cleanup } from "../helpers/temp-dir.ts";
import { HANG_MS, until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";

function run(program: string, ...args: string[]): void {
  const { status, stderr } = spawnSync(program, args, { encoding: "utf8" });
  assert.equal(status, 0, `${program} ${args.join(" ")}: ${stderr}`);
}

/** A separate disk that can be stalled: writes wait until it resumes. */
function mountDisk(t: Cleanup, dir: string) {
  const image = join(dir, "disk.img");
  const path = join(dir, "data");
  mkdirSync(path);
  const goOn = () => void spawnSync("fsfreeze", ["--unfreeze", path]);
  // Also if the test is cancelled: a process that waits for the disk cannot be killed before the disk resumes.
  t.after(() => {
    goOn();
    spawnSync("umount", ["--lazy", path]);
  });
  run("truncate", "--size", "64M", image);
  run("mkfs.ext4", "-q", image);
  run("mount", "-o", "loop", image, path);
  return {
    /** Stalls until it is disposed of: a process that waits for the disk cannot be killed. */
    stall(): Disposable {
      run("fsfreeze", "--freeze", path);
      return { [Symbol.dispose]: goOn };
    },
    goOn,
  };
}

/** The disk does not go on before the test ends, so what waits for it never comes. */
const inTime = <T>(work: Promise<T>) => timeout(HANG_MS, work, () => new Error("the server waits for the disk"));

test("the first check of a session after a change is answered on a stalled disk", needsFreeze(), async (t) => {
  const dir = workingDir();
  const disk = mountDisk(t, dir);
  await using server = await startServer({ dir, env: { WORKER_POLL_INTERVAL: "1h" } });
  const token = await logIn(server);
  using _stall = disk.stall();
  const answer = await inTime(me(server, token));
  assert.equal(answer.status, 200);
  disk.goOn();
  assert.equal((await server.stop()).code, 0);
});

test(
  "on a stalled disk deliveries get 503 and other requests work; later the server recovers",
  needsFreeze(),
  async (t) => {
    const dir = workingDir();
    const disk = mountDisk(t, dir);
    await using server = await startServer({ dir, env: { WEBHOOK_QUEUE_LIMIT: "20" } });
    const token = await logIn(server);
    assert.equal((await deliver(server, event("before"))).status, 200);

    using _stall = disk.stall();
    const during = Array.from({ length: 60 }, (_, n) => deliver(server, event(`during-${n}`)));
    const answers = await inTime(Promise.all(during));
    for (const answer of answers) {
      const code = JSON.parse(answer.text).code;
      assert.ok(["store_unavailable", "queue_full"].includes(code), code);
      assertProblem(answer, 503, code);
      assert.match(answer.headers.get("retry-after") ?? "", /^[1-9][0-9]*$/);
    }
    assert.equal((await ask(server, "/healthz")).status, 200);
    const ready = await ask(server, "/readyz");
    assert.deepEqual([ready.status, (ready.json.parts as { events: string }).events], [503, "unavailable"]);
    assert.equal((await me(server, token)).status, 200);

    disk.goOn();
    await until(async () => (await deliver(server, event("after"))).status === 200);
    const stored = (await list(server, "--limit", "100")).map(({ eventId }) => eventId);
    assert.ok(stored.includes("before") && stored.includes("after"));
    assert.equal((await server.stop()).code, 0);
  },
);
