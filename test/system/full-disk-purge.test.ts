import assert from "node:assert/strict";
import { statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { needsMount } from "../helpers/back-end.ts";
import { deliver, event } from "../helpers/client.ts";
import { type Server, startServer } from "../helpers/server.ts";
import { fill, mountDisk } from "../helpers/small-disk.ts";
import type { Cleanup } from "../helpers/temp-dir.ts";
import { HANG_MS, until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";

const MEGABYTE = 1024 * 1024;
const AT_ONCE = 64;
const PAD = "x".repeat(4000);

function freeBytes(dir: string): number {
  const { bavail, bsize } = statfsSync(join(dir, "data"));
  return bavail * bsize;
}

/** Delivers many at once until none is accepted. */
async function deliverUntilRefused(server: Server): Promise<void> {
  for (let round = 0, accepted = 1; accepted > 0; round++) {
    const ids = Array.from({ length: AT_ONCE }, (_, n) => `${round}-${n}`);
    const answers = await Promise.all(ids.map((id) => deliver(server, event(id, { pad: PAD }))));
    accepted = answers.filter(({ status }) => status === 200).length;
  }
}

/** Writes a configuration file that keeps processed events for a second. Returns its path. */
function forget(dir: string, name = "authserve.yaml"): string {
  writeFileSync(join(dir, name), "retention:\n  processed: 1s\n");
  return join(dir, name);
}

/** Starts a server on a small disk, which it and another program then fill to the last page. */
async function startOnFullDisk(t: Cleanup): Promise<Server> {
  const dir = workingDir();
  mountDisk(t, join(dir, "data"), "32m");
  const server = await startServer({ dir, env: { MIN_FREE_DISK: "0" } });
  await deliverUntilRefused(server);
  // The server may give up a part of its log meanwhile.
  let fillers = 0;
  await until(() => {
    fill(join(dir, "data", `filler-${fillers++}`));
    return freeBytes(dir) === 0;
  });
  return server;
}

/** Runs `events prune`. Returns how many events it has removed. */
async function removed(server: Server, env = {}): Promise<number> {
  const { code, stdout, stderr } = await server.run(["events", "prune", "--json"], env);
  assert.equal(code, 0, stderr);
  return (JSON.parse(stdout) as { events: number }).events;
}

suite("a disk that is full to the last page", () => {
  test("is freed by events prune while the server runs, and deliveries are accepted again", needsMount(), async (t) => {
    await using server = await startOnFullDisk(t);
    assert.notEqual((await deliver(server, event("full"))).status, 200);
    // Not the file of the server, which would do the same by itself.
    const env = { CONFIG_FILE: forget(server.dir, "prune.yaml") };
    // Events are kept for a second.
    await until(async () => (await removed(server, env)) >= 0 && freeBytes(server.dir) > 10 * MEGABYTE, 3 * HANG_MS);
    await until(async () => (await deliver(server, event("after"))).status === 200);
  });

  test("is freed by events prune after the server was killed", needsMount(), async (t) => {
    await using server = await startOnFullDisk(t);
    await server.kill();
    forget(server.dir);
    await until(async () => (await removed(server)) > 0);
    await until(async () => (await removed(server)) === 0);
    assert.ok(freeBytes(server.dir) > 10 * MEGABYTE);
    await using again = await startServer({ dir: server.dir });
    assert.equal((await deliver(again, event("after"))).status, 200);
  });

  test("is freed by retention", needsMount(), async (t) => {
    await using server = await startOnFullDisk(t);
    forget(server.dir);
    await until(async () => (await deliver(server, event("after"))).status === 200);
    // A quiet server returns the space of its log once a minute.
    await until(() => freeBytes(server.dir) > 10 * MEGABYTE, 3 * HANG_MS);
  });

  test("does not hinder the start, whose retention frees it", needsMount(), async (t) => {
    await using server = await startOnFullDisk(t);
    await server.stop();
    fill(join(server.dir, "data", "filler-last"));
    forget(server.dir);
    await using again = await startServer({ dir: server.dir, env: { MIN_FREE_DISK: "0" } });
    await until(async () => (await deliver(again, event("after"))).status === 200);
  });
});
