import assert from "node:assert/strict";
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import Sqlite from "better-sqlite3";
import { needsStrace } from "../helpers/back-end.ts";
import { databaseOf } from "../helpers/backup.ts";
import { deliver, event } from "../helpers/client.ts";
import { EXECUTABLE, startProgram } from "../helpers/command.ts";
import { type Server, settings, startServer } from "../helpers/server.ts";
import { injectFaults } from "../helpers/strace.ts";
import { until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";

const SENDERS = 8;
const DELIVERIES_PER_SENDER = 30;

/** Sends deliveries and counts the responses. Adds the acknowledged ids. */
async function deliverAll(server: Server, prefix: string, acknowledged: Set<string>): Promise<Map<number, number>> {
  const answers = new Map<number, number>();
  async function send(sender: number): Promise<void> {
    for (let n = 0; n < DELIVERIES_PER_SENDER; n++) {
      const id = `${prefix} s${sender}-${n}`;
      const { status } = await deliver(server, event(id));
      answers.set(status, (answers.get(status) ?? 0) + 1);
      if (status === 200) acknowledged.add(id);
    }
  }
  await Promise.all(Array.from({ length: SENDERS }, (_, sender) => send(sender)));
  return answers;
}

// The first commits succeed, so that acknowledged events could be lost.
const FAULTS = [
  { fault: "pwrite64:error=EIO:when=20+7", isError: true },
  { fault: "pwrite64:error=ENOSPC:when=20+7", isError: true },
  { fault: "fsync:error=EIO:when=5+3", isError: true },
  { fault: "fsync:error=ENOSPC:when=5+3", isError: true },
  { fault: "pwrite64:delay_enter=10000:when=20+7", isError: false },
  { fault: "fsync:delay_enter=50000:when=5+3", isError: false },
];

function readDatabase<T>(server: Server, read: (database: Sqlite.Database) => T): T {
  const database = new Sqlite(databaseOf(server), { readonly: true });
  try {
    return read(database);
  } finally {
    database.close();
  }
}

suite("acknowledged events are stored, whatever the disk does", () => {
  // Each test kills it, and starts it again.
  let server: Server;
  before(async () => {
    server = await startServer();
  });
  after(() => server[Symbol.asyncDispose]());

  for (const { fault, isError } of FAULTS) {
    test(`strace -e inject=${fault}`, needsStrace(), async (t) => {
      const acknowledged = new Set<string>();
      const faults = await injectFaults(t, server.pid, fault);
      const answers = await deliverAll(server, fault, acknowledged);
      await faults.end();
      assert.ok(faults.count() > 0, "no call was disturbed");
      const kinds = [...answers.keys()].sort();
      assert.deepEqual(kinds, isError ? [200, 503] : [200], JSON.stringify([...answers]));

      const last = `${fault} after`;
      await until(async () => (await deliver(server, event(last))).status === 200);
      await server.kill();
      server = await startServer({ dir: server.dir });
      const stored = new Set(
        readDatabase(server, (database) => database.prepare("SELECT event_id FROM events").pluck().all()),
      );
      assert.deepEqual(
        [...acknowledged, last].filter((id) => !stored.has(id)),
        [],
      );
      assert.equal(
        readDatabase(server, (database) => database.pragma("integrity_check", { simple: true })),
        "ok",
      );
    });
  }
});

test("the directory entries of a new DATA_DIR and its parents are flushed to the disk", needsStrace(), async () => {
  const dir = realpathSync(workingDir());
  const env = settings(dir, { DATA_DIR: join(dir, "new/data") });
  const traced = startProgram("strace", ["-f", "-y", "-e", "trace=fsync", EXECUTABLE, "serve"], { dir, env });
  await until(() => traced.stdout().includes("server_started"));
  process.kill(Number(/"pid":(\d+)/.exec(traced.stdout())?.[1]), "SIGTERM");
  await traced.exited;
  for (const folder of [dir, join(dir, "new")]) {
    assert.match(traced.stderr(), new RegExp(`fsync\\(\\d+<${folder}>\\) += 0`));
  }
});
