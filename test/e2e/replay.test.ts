import assert from "node:assert/strict";
import { test } from "node:test";
import { deliver, event } from "../helpers/client.ts";
import { type Server, startServer } from "../helpers/server.ts";
import { settled, show, stats } from "../helpers/stored-events.ts";
import { type ForwardTarget, startTarget } from "../helpers/target.ts";
import { until } from "../helpers/until.ts";

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

test("what is replayed while no server runs is processed after the start, once", async () => {
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

test("a replayed event that fails again is dead-lettered again after a fresh budget", async () => {
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
  assert.match(stored.deadLetter?.reason ?? "", /attempt 2 of 2/);
});

test("a processed event is replayed with --force alone", async () => {
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
