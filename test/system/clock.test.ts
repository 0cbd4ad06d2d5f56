import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import Sqlite from "better-sqlite3";
import { deliver, event } from "../helpers/client.ts";
import { clockOffBy, needsFaketime } from "../helpers/fake-clock.ts";
import { startServer } from "../helpers/server.ts";
import { settled } from "../helpers/stored-events.ts";
import { workingDir } from "../helpers/working-dir.ts";

test("a server whose newest event is ahead of its clock says so at the start", async () => {
  await using server = await startServer();
  await deliver(server, event("a"));
  await settled(server, "a");
  assert.equal((await server.stop()).code, 0);
  const database = new Sqlite(join(server.dir, "data", "authserve.db"));
  database.exec("UPDATE events SET received_at = received_at + 3600000").close();
  await using again = await startServer({ dir: server.dir });
  assert.match(
    String((await again.logged("clock_warning")).message),
    /is before the newest event at .*: set the clock/,
  );
});

test("what came while the clock was 400 days behind is kept after it is set right", needsFaketime(), async () => {
  const dir = workingDir();
  const clock = join(dir, "clock");
  const set = (by: string) => writeFileSync(clock, `${by}\n`);
  set("-400d");
  await using server = await startServer({ dir, env: clockOffBy(clock) });
  assert.match(String((await server.logged("clock_warning")).message), /before this version was made/);
  await deliver(server, event("a"));
  await settled(server, "a");
  set("+0d");
  assert.match(String((await server.logged("clock_set")).message), /forward by 400 days/);
  const pruned = await server.run(["events", "prune", "--json"], { LD_PRELOAD: undefined });
  assert.equal((JSON.parse(pruned.stdout) as { events: number }).events, 0, pruned.stderr);
  assert.equal((await deliver(server, event("a"))).json.duplicate, true);
  // A server that runs on is no outage.
  const outages = await server.run(["outages", "--json"], { LD_PRELOAD: undefined });
  assert.equal(outages.stdout.trim(), "[]");
});
