import assert from "node:assert/strict";
import { cpSync, renameSync, rmSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { lockDataDir } from "../../src/sqlite/data-dir.ts";
import { openDatabase } from "../../src/sqlite/database.ts";
import { ask, assertProblem, deliver, event, tryLogin } from "../helpers/client.ts";
import { type Server, serveRefused, startServer } from "../helpers/server.ts";
import { list } from "../helpers/stored-events.ts";
import { until } from "../helpers/until.ts";

const EVENTS = 100;

/** Delivers events at once. Returns the ids that were acknowledged. */
async function deliverMany(server: Server): Promise<string[]> {
  const ids = Array.from({ length: EVENTS }, (_, n) => `event-${n}`);
  const answers = await Promise.all(ids.map((id) => deliver(server, event(id))));
  return ids.filter((_, n) => answers[n]?.status === 200);
}

const dataOf = (server: Server, name: string) => join(String(server.env.DATA_DIR), name);

async function assertRefused(server: Server): Promise<void> {
  assertProblem(await deliver(server, event("after")), 503, "store_unavailable");
  assertProblem(await tryLogin(server), 503, "store_unavailable");
  assert.equal((await ask(server, "/readyz")).status, 503);
}

async function assertCommandsRefuse(server: Server, end: string): Promise<void> {
  const doctor = await server.run(["doctor"]);
  assert.equal(doctor.code, 1);
  assert.match(
    doctor.stdout,
    new RegExp(`^wrong +database +DATA_DIR/authserve\\.db${end} .* → restart the server`, "m"),
  );
  for (const command of [
    ["events", "list"],
    ["events", "prune"],
    ["backup", "copy.db"],
  ]) {
    const { code, stderr } = await server.run(command);
    assert.equal(code, 1, command.join(" "));
    assert.match(stderr, /is not the file that the running server uses/);
  }
}

const FAULTS = [
  ["a removed write-ahead log", "-wal", (file: string) => rmSync(file)],
  ["a removed index of the write-ahead log", "-shm", (file: string) => rmSync(file)],
  [
    "a replaced write-ahead log",
    "-wal",
    (file: string) => {
      cpSync(file, `${file}.copy`);
      truncateSync(`${file}.copy`, 0);
      renameSync(`${file}.copy`, file);
    },
  ],
] as const;

suite("files that go away while the server runs", { concurrency: 3 }, () => {
  for (const [what, end, harm] of FAULTS) {
    test(`${what} is told within seconds, and neither a stop nor a kill after that loses an event`, async () => {
      for (const signal of ["SIGKILL", "SIGTERM"] as const) {
        await using server = await startServer({ env: { FORWARD_URL: "http://127.0.0.1:9" } });
        const acknowledged = await deliverMany(server);
        assert.equal(acknowledged.length, EVENTS);
        harm(dataOf(server, `authserve.db${end}`));

        const line = await server.logged("storage_file_fault");
        assert.match(
          String(line.error),
          new RegExp(`authserve\\.db${end} was removed or replaced: restart the server`),
        );
        await assertRefused(server);
        if (signal === "SIGKILL") await assertCommandsRefuse(server, end);
        await server.stop(signal);

        await using again = await startServer({ dir: server.dir });
        assert.equal((await list(again, "--limit", "1000")).length, EVENTS);
        assert.equal((await deliver(again, event("after"))).json.duplicate, false);
        assert.match((await again.run(["doctor"])).stdout, /^ok +database/m);
      }
    });
  }

  test("a write-ahead log that was cut short gets no further write, and the database stays readable", async () => {
    await using server = await startServer();
    await deliverMany(server);
    // A write that has begun would make the log as long again.
    await until(async () => /^authserve_events_queued 0$/m.test((await ask(server, "/metrics")).text));
    truncateSync(dataOf(server, "authserve.db-wal"), 0);
    assert.match(String((await server.logged("storage_file_fault")).error), /authserve\.db-wal was cut short/);
    await assertRefused(server);
    await server.stop();
    const database = openDatabase(String(server.env.DATA_DIR));
    assert.deepEqual(database.pragma("integrity_check"), [{ integrity_check: "ok" }]);
    database.close();
  });

  test("a server whose lock file was removed locks the directory again, and a second server does not start", async () => {
    await using server = await startServer();
    rmSync(dataOf(server, "serve.lock"));
    const refused = await serveRefused({}, server.dir);
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /Another authserve uses this DATA_DIR/);
    await server.logged("lock_file_renewed");
    assert.throws(() => lockDataDir(String(server.env.DATA_DIR)), /Another authserve uses this DATA_DIR/);
    assert.equal((await deliver(server, event("after"))).status, 200);
    assert.equal((await server.stop()).code, 0);
  });

  test("a server whose lock another one has taken refuses deliveries until it is free", async () => {
    await using server = await startServer({ env: { LOG_LEVEL: "info" } });
    rmSync(dataOf(server, "serve.lock"));
    const release = lockDataDir(String(server.env.DATA_DIR));
    assert.match(String((await server.logged("storage_file_fault")).error), /another server holds a new one/);
    await assertRefused(server);
    release();
    await server.logged("storage_files_restored");
    await until(async () => (await deliver(server, event("after"))).status === 200);
  });
});
