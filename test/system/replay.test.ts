import assert from "node:assert/strict";
import { join } from "node:path";
import { after, test } from "node:test";
import { type Database, openDatabase } from "../../src/sqlite/database.ts";
import { localStores } from "../../src/sqlite/stores.ts";
import { deliver, event } from "../helpers/client.ts";
import { EXECUTABLE, startProgram } from "../helpers/command.ts";
import { fanOut, newEvent } from "../helpers/events.ts";
import { type Server, startServer } from "../helpers/server.ts";
import { settled, show, stats } from "../helpers/stored-events.ts";
import { startTarget } from "../helpers/target.ts";
import { until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";

const target = await startTarget();
after(() => target[Symbol.asyncDispose]());
const env = { FORWARD_URL: target.url, RETRY_DELAY: "10ms", RETRY_ATTEMPTS: "2", WORKER_POLL_INTERVAL: "50ms" };
const server = await startServer({ env });
after(() => server[Symbol.asyncDispose]());

async function deadLetter(of: Server, ids: string[]): Promise<void> {
  target.answer((_, response) => void response.writeHead(500).end());
  for (const id of ids) await deliver(of, event(id));
  for (const id of ids) await settled(of, id, "event_dead_lettered");
  target.answer((_, response) => void response.writeHead(200).end());
}

test("replay --dead-letter processes every failed event and leaves none behind", async () => {
  const ids = ["dead-1", "dead-2", "dead-3"];
  await deadLetter(server, ids);
  assert.equal((await stats(server)).failed, 3);
  const { code, stdout } = await server.run(["events", "replay", "--dead-letter", "--json"]);
  assert.equal(code, 0);
  assert.deepEqual(JSON.parse(stdout), { replayed: 3, refused: [] });
  for (const id of ids) await settled(server, id);
  const counts = await stats(server);
  assert.deepEqual([counts.queued, counts.failed], [0, 0]);
});

test("a processed event is replayed only with --force", async () => {
  target.answer((_, response) => void response.writeHead(200).end());
  await deliver(server, event("done"));
  await settled(server, "done");
  const refused = await server.run(["events", "replay", "done", "--json"]);
  assert.equal(refused.code, 1);
  assert.equal(JSON.parse(refused.stdout).refused[0].eventId, "done");
  assert.equal((await server.run(["events", "replay", "done", "--force"])).code, 0);
  await until(() => target.of("done").length === 2);
  assert.equal(target.of("done")[1]?.headers["x-attempt"], "2");
});

test("events replayed while no server runs are attempted after the start, again with all their attempts", async () => {
  await using first = await startServer({ env });
  await deadLetter(first, ["while-down", "again"]);
  assert.equal((await first.stop()).code, 0);
  assert.equal((await first.run(["events", "replay", "while-down", "again"])).code, 0);
  assert.equal((await show(first, "while-down")).status, "queued");

  target.answer(({ headers }, response) => response.writeHead(headers["x-event-id"] === "again" ? 500 : 200).end());
  await using second = await startServer({ env, dir: first.dir });
  await settled(second, "while-down");
  assert.equal(target.of("while-down").length, 3);
  assert.equal((await show(second, "while-down")).status, "processed");
  await settled(second, "again", "event_dead_lettered");
  const stored = await show(second, "again");
  assert.deepEqual([stored.status, stored.attempts], ["failed", 4]);
  assert.match(stored.jobs[0]?.deadLetter?.reason ?? "", /attempt 2 of 2/);
});

test("attempts are numbered anew in each replay, and counted in all", async () => {
  await deadLetter(server, ["counted"]);
  const allowingFewer = await server.run(["events", "show", "counted"], { RETRY_ATTEMPTS: "1" });
  assert.match(allowingFewer.stdout, /^route +default, 2 of 2 attempts$/m);
  assert.equal((await server.run(["events", "replay", "counted"])).code, 0);
  await until(async () => (await show(server, "counted")).status === "processed");
  const { stdout } = await server.run(["events", "show", "counted"]);
  assert.match(stdout, /^route +default, replay 1: 1 of 2 attempts, 3 in all$/m);
  assert.deepEqual(
    Array.from(
      stdout.matchAll(/(attempt [^ ]+(?: of replay [0-9]+)?) {2}[0-9]+ ms {2}(\w+)/g),
      ([, ...named]) => named,
    ),
    [
      ["attempt 1", "failed"],
      ["attempt 2", "failed"],
      ["attempt 1 of replay 1", "succeeded"],
    ],
  );
  const { attempts, jobs } = await show(server, "counted");
  assert.equal(attempts, 3);
  assert.deepEqual(
    jobs.map(({ attempts, replays, budget, history }) => ({
      attempts,
      replays,
      budget,
      history: history.map(({ attempt, replay, attemptOfBudget }) => ({ attempt, replay, attemptOfBudget })),
    })),
    [
      {
        attempts: 3,
        replays: 1,
        budget: { used: 1, of: 2 },
        history: [
          { attempt: 1, replay: 0, attemptOfBudget: 1 },
          { attempt: 2, replay: 0, attemptOfBudget: 2 },
          { attempt: 3, replay: 1, attemptOfBudget: 1 },
        ],
      },
    ],
  );
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
  const COUNT = 5000;
  const { dir, database } = await withDeadLetters(COUNT);
  await using own = await startServer({ dir });
  const count = (of: string) => database.prepare(`SELECT count(*) FROM ${of}`).pluck().get() as number;
  const failed = () => count("dead_letters");

  const replay = ["events", "replay", "--dead-letter", "--json"];
  // At this rate it takes minutes, so it is interrupted long before its end.
  const interrupted = startProgram(EXECUTABLE, [...replay, "--rate", "20/s"], { dir, env: own.env });
  await until(() => failed() < COUNT);
  interrupted.child.kill("SIGINT");
  assert.deepEqual(await interrupted.exited, { code: 1, signal: null });
  const left = failed();
  assert.ok(left > 0);
  assert.equal(JSON.parse(interrupted.stdout()).replayed, COUNT - left);
  const [, cursor = ""] = /Continue with --cursor (\S+)/.exec(interrupted.stderr()) ?? [];
  const remaining = await own.run(["events", "replay", "--dead-letter", "--dry-run", "--json", "--cursor", cursor]);
  assert.deepEqual(JSON.parse(remaining.stdout), { matched: left });

  let isOver = false;
  const finished = own.run(replay).finally(() => {
    isOver = true;
  });
  let answeredMeanwhile = 0;
  for (let n = 0; !isOver; n++) {
    assert.equal((await deliver(own, event(`live-${n}`))).status, 200);
    const now = failed();
    if (now > 0 && now < left) answeredMeanwhile++;
  }
  // A delivery that waited for the whole replay would be answered after it.
  assert.ok(answeredMeanwhile > 0);
  const { code, stdout } = await finished;
  assert.deepEqual([code, JSON.parse(stdout)], [0, { replayed: left, refused: [] }]);
  const { events } = localStores(database);
  await until(async () => (await events.backlog()).queued === 0);
  assert.equal(count("jobs WHERE status <> 'processed'"), 0);
  assert.equal(count("jobs WHERE attempts = 6"), COUNT);
  assert.equal((await events.backlog()).failed, 0);
  database.close();
});
