import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { type Database, openDatabase } from "../../src/sqlite/database.ts";
import { localStores } from "../../src/sqlite/stores.ts";
import { deliver, event } from "../helpers/client.ts";
import { EXECUTABLE, startProgram } from "../helpers/command.ts";
import { fanOut, newEvent } from "../helpers/events.ts";
import { type Server, startServer } from "../helpers/server.ts";
import { settled, show, stats } from "../helpers/stored-events.ts";
import { type ForwardTarget, startTarget } from "../helpers/target.ts";
import { until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";

const failing = (target: ForwardTarget) => ({
  env: { FORWARD_URL: target.url, RETRY_DELAY: "10ms", RETRY_ATTEMPTS: "2", WORKER_POLL_INTERVAL: "50ms" },
});

async function deadLetter(server: Server, target: ForwardTarget, ids: string[]): Promise<void> {
  target.answer((_, response) => void response.writeHead(500).end());
  for (const id of ids) await deliver(server, event(id));
  for (const id of ids) await settled(server, id, "event_dead_lettered");
  target.answer((_, response) => void response.writeHead(200).end());
}

test("replay --dead-letter processes every failed event and leaves none behind", async () => {
  await using target = await startTarget();
  await using server = await startServer(failing(target));
  const ids = ["dead-1", "dead-2", "dead-3"];
  await deadLetter(server, target, ids);
  assert.equal((await stats(server)).failed, 3);
  const { code, stdout } = await server.run(["events", "replay", "--dead-letter", "--json"]);
  assert.equal(code, 0);
  assert.deepEqual(JSON.parse(stdout), { replayed: 3, refused: [] });
  for (const id of ids) await settled(server, id);
  const counts = await stats(server);
  assert.deepEqual([counts.queued, counts.processed, counts.failed], [0, 3, 0]);
});

test("an event replayed while no server runs is processed once after the start", async () => {
  await using target = await startTarget();
  await using first = await startServer(failing(target));
  await deadLetter(first, target, ["while-down"]);
  assert.equal((await first.stop()).code, 0);
  assert.equal((await first.run(["events", "replay", "while-down"])).code, 0);
  assert.equal((await show(first, "while-down")).status, "queued");
  await using second = await startServer({ ...failing(target), dir: first.dir });
  await settled(second, "while-down");
  assert.equal(target.of("while-down").length, 3);
  assert.equal((await show(second, "while-down")).status, "processed");
});

test("a replayed event that fails again gets all its attempts, then is dead-lettered again", async () => {
  await using target = await startTarget();
  await using first = await startServer(failing(target));
  await deadLetter(first, target, ["again"]);
  target.answer((_, response) => void response.writeHead(500).end());
  await first.stop();
  await first.run(["events", "replay", "again"]);
  await using second = await startServer({ ...failing(target), dir: first.dir });
  await settled(second, "again", "event_dead_lettered");
  const stored = await show(second, "again");
  assert.deepEqual([stored.status, stored.attempts], ["failed", 4]);
  assert.match(stored.jobs[0]?.deadLetter?.reason ?? "", /attempt 2 of 2/);
});

test("a processed event is replayed only with --force", async () => {
  await using target = await startTarget();
  await using server = await startServer(failing(target));
  await deliver(server, event("done"));
  await settled(server, "done");
  const refused = await server.run(["events", "replay", "done", "--json"]);
  assert.equal(refused.code, 1);
  assert.equal(JSON.parse(refused.stdout).refused[0].eventId, "done");
  assert.equal((await server.run(["events", "replay", "done", "--force"])).code, 0);
  await until(() => target.of("done").length === 2, 5000);
  assert.equal(target.of("done")[1]?.headers["x-attempt"], "2");
});

/** A working directory whose database has this many dead letters of 3 KB. */
async function withDeadLetters(count: number): Promise<{ dir: string; database: Database }> {
  const dir = workingDir();
  const database = openDatabase(join(dir, "data"));
  const payload = Buffer.alloc(3000, " ");
  const receivedAt = Date.now();
  const batch = Array.from({ length: count }, (_, n) => newEvent({ eventId: `dead-${n}`, payload, receivedAt }));
  const { events } = localStores(database);
  await events.append(batch);
  await fanOut(events);
  database.exec("UPDATE jobs SET status = 'failed', attempts = 5, due_at = NULL");
  database.exec("INSERT INTO dead_letters (event, route, failed_at, reason) SELECT event, route, 1, 'no' FROM jobs");
  database.exec("UPDATE tally SET failed = queued, queued = 0");
  return { dir, database };
}

test("a replay of many dead letters delays no deliveries, and continues when run again after an interruption", async () => {
  const COUNT = 20_000;
  const { dir, database } = await withDeadLetters(COUNT);
  await using server = await startServer({ dir });
  const count = (of: string) => database.prepare(`SELECT count(*) FROM ${of}`).pluck().get() as number;
  const failed = () => count("dead_letters");

  const replay = ["events", "replay", "--dead-letter", "--json"];
  const interrupted = startProgram(EXECUTABLE, replay, { dir, env: server.env });
  await until(() => failed() < COUNT, 15_000);
  interrupted.child.kill("SIGINT");
  assert.deepEqual(await interrupted.exited, { code: 1, signal: null });
  const left = failed();
  assert.ok(left > 0);
  assert.equal(JSON.parse(interrupted.stdout()).replayed, COUNT - left);
  const [, cursor = ""] = /Continue with --cursor (\S+)/.exec(interrupted.stderr()) ?? [];
  const remaining = await server.run(["events", "replay", "--dead-letter", "--dry-run", "--json", "--cursor", cursor]);
  assert.deepEqual(JSON.parse(remaining.stdout), { matched: left });

  let isOver = false;
  const finished = server.run(replay).finally(() => {
    isOver = true;
  });
  let slowestMs = 0;
  for (let n = 0; !isOver; n++) {
    const sentAt = performance.now();
    assert.equal((await deliver(server, event(`live-${n}`))).status, 200);
    slowestMs = Math.max(slowestMs, performance.now() - sentAt);
    await delay(10);
  }
  assert.ok(slowestMs < 2000, `a delivery took ${slowestMs} ms`);
  const { code, stdout } = await finished;
  assert.deepEqual([code, JSON.parse(stdout)], [0, { replayed: left, refused: [] }]);
  await until(() => count("jobs WHERE status <> 'processed'") === 0, 30_000);
  assert.equal(count("jobs WHERE attempts = 6"), COUNT);
  const backlog = await localStores(database).events.backlog();
  assert.deepEqual([backlog.queued, backlog.failed], [0, 0]);
  database.close();
});
