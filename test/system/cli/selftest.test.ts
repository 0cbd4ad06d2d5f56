import assert from "node:assert/strict";
import { readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { createSqliteSessionStore } from "../../../src/sqlite/sessions.ts";
import { logIn, me } from "../../helpers/client.ts";
import { EXECUTABLE, startProgram } from "../../helpers/command.ts";
import { isLocked, tempDatabase } from "../../helpers/database.ts";
import { startServer } from "../../helpers/server.ts";
import { until } from "../../helpers/until.ts";
import { runSessionRaces } from "../../selftest/session-races.ts";

test("selftest sessions passes on the embedded store of a running server, and keeps its session", async () => {
  await using server = await startServer();
  const token = await logIn(server);
  const { code, stdout, stderr } = await server.run(["selftest", "sessions", "--rounds", "40", "--json"]);
  assert.deepEqual([code, stderr], [0, ""]);
  const { store, passed, races } = JSON.parse(stdout);
  assert.deepEqual([store, passed], ["embedded", true]);
  assert.deepEqual(
    races.map(({ rounds, broken }: { rounds: number; broken: number }) => [rounds, broken]),
    [
      [2, 0],
      [40, 0],
      [40, 0],
      [2, 0],
      [1, 0],
    ],
  );
  assert.equal((await me(server, token)).status, 200);
});

/** How many times a process has a file open. */
function openCount(pid: number, file: string): number {
  const dir = `/proc/${pid}/fd`;
  return readdirSync(dir).filter((fd) => {
    try {
      return readlinkSync(join(dir, fd)) === file;
    } catch {
      return false;
    }
  }).length;
}

test("selftest sessions opens the database twice, and keeps its lock", async () => {
  await using server = await startServer();
  await server.stop();
  const { child, exited } = startProgram(EXECUTABLE, ["selftest", "sessions", "--rounds", "100000"], server);
  const dataDir = join(server.dir, "data");
  const pid = Number(child.pid);
  await until(() => openCount(pid, join(dataDir, "authserve.db-wal")) === 2);
  const isHeld = isLocked(dataDir, pid);
  child.kill("SIGKILL");
  await exited;
  assert.ok(isHeld);
});

test("the races detect a store whose logout is a read and then a delete", async (t) => {
  const { database } = tempDatabase(t);
  const store = createSqliteSessionStore(database);
  const broken = {
    ...store,
    async removeIf(userId: string, sid: string) {
      const isCurrent = (await store.current(userId)) === sid;
      await new Promise(setImmediate);
      return isCurrent && store.remove(userId);
    },
  };
  const results = await runSessionRaces([broken], "nobody", { logins: 1, logouts: 20, renewals: 1, reads: 1 });
  const spared = results.find(({ race }) => race.startsWith("a logout spares"));
  assert.ok(spared && spared.broken > 0);
});

test("long races pause now and then, so that others can use the store", async (t) => {
  const { database } = tempDatabase(t);
  const store = createSqliteSessionStore(database);
  const calledAt: number[] = [];
  const slow = {
    ...store,
    async replace(...login: Parameters<typeof store.replace>) {
      calledAt.push(performance.now());
      await delay(10);
      return store.replace(...login);
    },
  };
  await runSessionRaces([slow], "nobody", { logins: 0, logouts: 40, renewals: 0, reads: 0 });
  const gaps = calledAt.slice(1, -1).map((at, index) => at - Number(calledAt[index]));
  assert.ok(Math.max(...gaps) > 90, `${Math.max(...gaps)} ms`);
});
