import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { suite, test } from "node:test";
import { databaseOf, withBackup } from "../helpers/backup.ts";
import { deliver, event } from "../helpers/client.ts";
import type { Finished } from "../helpers/command.ts";
import { flipBit, flipBitOfFrame, flipBits } from "../helpers/damage.ts";
import { type Server, startServer } from "../helpers/server.ts";
import { list } from "../helpers/stored-events.ts";

/** Runs a command on a damaged database, and asserts that it changes no byte of it. */
async function runOnDamaged(command: string): Promise<Finished> {
  const { server } = await withBackup();
  await using _ = server;
  await server.stop();
  flipBits(databaseOf(server));
  const before = readFileSync(databaseOf(server));
  const finished = await server.run([command]);
  assert.ok(readFileSync(databaseOf(server)).equals(before));
  return finished;
}

suite("a damaged database", () => {
  test("serve names the damage, exits 2 and changes no byte", async () => {
    const { code, stderr } = await runOnDamaged("serve");
    assert.equal(code, 2);
    assert.match(stderr, /authserve\.db is damaged .*authserve restore/);
  });

  test("doctor names the damage, exits 1 and changes no byte", async () => {
    const { code, stdout } = await runOnDamaged("doctor");
    assert.equal(code, 1);
    assert.match(stdout, /^wrong +database /m);
  });
});

const EVENTS = 60;

/** A server that was killed with events in its log, and that log. */
async function killedServer(): Promise<{ server: Server; log: string }> {
  const server = await startServer();
  for (let n = 0; n < EVENTS; n++) assert.equal((await deliver(server, event(`evt_${n}`))).status, 200);
  await server.kill();
  return { server, log: `${databaseOf(server)}-wal` };
}

/** The copies that were kept of a log. */
function keptOf(log: string): string[] {
  const names = readdirSync(dirname(log)).filter((name) => name.includes("-wal.damaged-"));
  return names.map((name) => join(dirname(log), name));
}

suite("a damaged log of the database", () => {
  test("whose header is wrong is refused by serve and every command, and stays as it is", async () => {
    for (const at of [0, 20]) {
      const { server, log } = await killedServer();
      flipBit(log, at);
      const before = [readFileSync(databaseOf(server)), readFileSync(log)];
      for (const command of [["serve"], ["events", "stats"], ["backup", "backup.db"]]) {
        const { code, stderr } = await server.run(command);
        assert.equal(code, 2, command.join(" "));
        assert.match(stderr, /is damaged .*\(the header of authserve\.db-wal .*restore a backup .*nothing was changed/);
      }
      const { code, stdout } = await server.run(["doctor"]);
      assert.equal(code, 1);
      assert.match(stdout, /^wrong +database +the header of authserve\.db-wal is not as it was written/m);
      assert.deepEqual([readFileSync(databaseOf(server)), readFileSync(log)], before);
    }
  });

  test("in its middle is told of by doctor and by the start, which keeps it as it was", async () => {
    const { server, log } = await killedServer();
    flipBitOfFrame(log);
    const damaged = readFileSync(log);
    const { code, stdout } = await server.run(["doctor"]);
    assert.equal(code, 1);
    assert.match(
      stdout,
      /^wrong +database +authserve\.db-wal is damaged, with [0-9]+ transactions behind that .*the next start goes on/m,
    );
    assert.ok(readFileSync(log).equals(damaged));

    await using again = await startServer({ dir: server.dir });
    const told = await again.logged("database_log_damaged");
    assert.equal(told.level, "warn");
    assert.ok(Number(told.lostTransactions) >= 2);
    const left = (await list(again)).length;
    assert.ok(left < EVENTS, `${left} events left`);
    const [kept] = keptOf(log);
    assert.equal(told.kept, kept);
    assert.ok(readFileSync(String(kept)).equals(damaged));

    // The events that were lost are taken in again, and what was found once is not found by the next start.
    assert.equal((await deliver(again, event(`evt_${EVENTS - 1}`))).json.duplicate, false);
    await again.kill();
    await using third = await startServer({ dir: server.dir });
    assert.deepEqual(third.log("database_log_damaged"), []);
    assert.deepEqual(keptOf(log), [kept]);
  });

  test("in its middle is told of and kept by a command that opens it first", async () => {
    const { server, log } = await killedServer();
    flipBitOfFrame(log);
    const damaged = readFileSync(log);
    const { code, stderr } = await server.run(["events", "stats", "--json"]);
    assert.equal(code, 0);
    assert.match(stderr, /^authserve\.db-wal is damaged: [0-9]+ transactions behind the damage are lost; /);
    assert.deepEqual(
      keptOf(log).map((kept) => readFileSync(kept)),
      [damaged],
    );
  });

  test("of a running server is not looked at", async () => {
    await using server = await startServer();
    for (let n = 0; n < EVENTS; n++) await deliver(server, event(`evt_${n}`));
    const log = `${databaseOf(server)}-wal`;
    flipBitOfFrame(log, 0);
    const { code, stderr } = await server.run(["events", "stats"]);
    assert.deepEqual([code, stderr], [0, ""]);
    assert.doesNotMatch((await server.run(["doctor"])).stdout, /authserve\.db-wal is damaged/);
    assert.deepEqual(keptOf(log), []);
  });
});
