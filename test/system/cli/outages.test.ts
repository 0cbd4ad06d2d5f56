import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { lockDataDir } from "../../../src/sqlite/data-dir.ts";
import { openDatabase } from "../../../src/sqlite/database.ts";
import { localStores } from "../../../src/sqlite/stores.ts";
import { authserve } from "../../helpers/command.ts";
import { startServer } from "../../helpers/server.ts";
import { workingDir } from "../../helpers/working-dir.ts";

const HOUR = 3_600_000;
const CONFIG = `
sources:
  code: { preset: github, secrets: [env:SECRET] }
  pay: { preset: stripe, secrets: [env:SECRET] }
`;

test("outages are shown with what each means for the sources", async () => {
  const dir = workingDir();
  const env = { DATA_DIR: join(dir, "data"), SECRET: "whsec_a-secret-that-is-long-enough-for-this" };
  writeFileSync(join(dir, "authserve.yaml"), CONFIG);
  const run = (...args: string[]) => authserve(["outages", ...args], { dir, env });
  const database = openDatabase(env.DATA_DIR);
  assert.match((await run()).stderr, /^Deliveries could always be taken in this time\.$/m);
  const to = Date.now() - HOUR;
  await localStores(database).outages.record({ kind: "stopped", from: to - 4 * HOUR, to }, 0);
  database.close();

  const { code, stdout } = await run();
  assert.equal(code, 0);
  assert.match(stdout, /: the server did not run for 4 h\n/);
  assert.match(
    stdout,
    /^ {2}code: its provider does not repeat by itself, and can be asked for the first one until in 2 d → set catchUp of code, then authserve sources catch-up code$/m,
  );
  assert.match(stdout, /^ {2}pay: its provider repeats by itself for 3 days, the first one until in 2 d$/m);

  const doctor = (await authserve(["doctor", "--json"], { dir, env })).stdout;
  const found = (JSON.parse(doctor) as { check: string; found: string; remedy: string }[]).filter(
    ({ check }) => check === "outages",
  );
  assert.deepEqual(
    found.map(({ found: text, remedy }) => [text.split(",")[0], remedy]),
    [["no delivery of code could be taken for 4 h", "set catchUp of code, then authserve sources catch-up code"]],
  );

  const [outage, ...others] = JSON.parse((await run("--json")).stdout);
  assert.deepEqual(others, []);
  const { sources, ...rest } = outage;
  assert.deepEqual(rest, {
    from: new Date(to - 4 * HOUR).toISOString(),
    to: new Date(to).toISOString(),
    kind: "stopped",
  });
  assert.deepEqual(
    sources.map(({ name, resends, missed, atRisk }: Record<string, unknown>) => ({ name, resends, missed, atRisk })),
    [
      { name: "code", resends: "manual", missed: null, atRisk: true },
      { name: "pay", resends: "automatic", missed: null, atRisk: false },
    ],
  );
  assert.equal((await run("--since", "30m", "--json")).stdout, "[]\n");
});

test("an outage that goes on is shown, also of a server whose store takes no heartbeat", async () => {
  const dir = workingDir();
  const env = { DATA_DIR: join(dir, "data") };
  const database = openDatabase(env.DATA_DIR);
  const { outages } = localStores(database);
  await outages.beat(Date.now() - HOUR);
  await outages.record({ kind: "stopped", from: Date.now(), to: Date.now() + 1000 * HOUR }, 0);
  const { stdout } = await authserve(["outages"], { dir, env });
  assert.match(stdout, /^\S+ to now: the server did not run for \d+ min\n$/);
  // A lock that nothing refers to would go when memory is collected.
  const release = lockDataDir(env.DATA_DIR);
  assert.match((await authserve(["outages"], { dir, env })).stdout, /to now: the store did not answer/);
  release();
  database.close();
});

test("outages are shown the same from another machine", async () => {
  const dir = workingDir();
  const env = { DATA_DIR: join(dir, "data"), SECRET: "whsec_a-secret-that-is-long-enough-for-this" };
  writeFileSync(join(dir, "authserve.yaml"), CONFIG);
  const database = openDatabase(env.DATA_DIR);
  const to = Date.now() - HOUR;
  await localStores(database).outages.record({ kind: "stopped", from: to - 4 * HOUR, to }, 0);
  await localStores(database).outages.record({ kind: "disk", from: to - 90 * HOUR, to: to - 89 * HOUR }, 0);
  database.close();
  await using server = await startServer({ dir, env });
  const elsewhere = workingDir();
  const token = await server.run(["tokens", "create", "laptop", "--scope", "events:read"]);
  writeFileSync(join(elsewhere, "token"), token.stdout);
  for (const args of [[], ["--utc"], ["--json"], ["--since", "1d"], ["--since", "1m"]]) {
    const here = await server.run(["outages", ...args]);
    const remote = ["outages", ...args, "--server", server.url, "--token-file", "token"];
    const there = await authserve(remote, { dir: elsewhere, env: {} });
    assert.deepEqual([there.code, there.stdout, there.stderr], [here.code, here.stdout, here.stderr], args.join(" "));
    assert.equal(here.code, 0);
  }
});
