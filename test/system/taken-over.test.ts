import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, deliver, event } from "../helpers/client.ts";
import { type Server, startServer } from "../helpers/server.ts";
import { settled, showJob } from "../helpers/stored-events.ts";
import { type ForwardTarget, startTarget } from "../helpers/target.ts";
import { until } from "../helpers/until.ts";

/** Kills a server while the target works on an event, and starts the next on its data. */
async function startAgain(target: ForwardTarget, env: Record<string, string>): Promise<Server> {
  target.answer(() => {});
  await using server = await startServer({ env: { ...env, FORWARD_URL: target.url } });
  await deliver(server, event("in-work"));
  await until(() => target.of("in-work").length === 1);
  await server.kill();
  target.answer((_, response) => response.writeHead(204).end());
  return startServer({ dir: server.dir, env: server.env });
}

async function attemptsOf(server: Server): Promise<string[]> {
  const { text } = await ask(server, "/metrics");
  return text.split("\n").filter((line) => line.startsWith("authserve_attempts_total") && !line.endsWith(" 0"));
}

test("an event that was running when the server was killed is retried after the usual delay, and counts as retried", async () => {
  await using target = await startTarget();
  await using server = await startAgain(target, {});
  await settled(server, "in-work", "event_processed");
  const { history } = await showJob(server, "in-work");
  assert.deepEqual(
    history.map(({ outcome }) => outcome),
    ["lease_expired", "succeeded"],
  );
  assert.deepEqual((await attemptsOf(server)).sort(), [
    'authserve_attempts_total{outcome="processed"} 1',
    'authserve_attempts_total{outcome="retried"} 1',
  ]);
});

test("several crashes in a row use up one attempt, not all of them", async (t) => {
  await using target = await startTarget();
  let server = await startAgain(target, { RETRY_ATTEMPTS: "3", RETRY_DELAY: "1h" });
  t.after(() => server[Symbol.asyncDispose]());
  await until(async () => (await attemptsOf(server)).length > 0);
  for (let crash = 0; crash < 3; crash++) {
    await server.kill();
    server = await startServer({ dir: server.dir, env: server.env });
  }
  const { status, attempts, history } = await showJob(server, "in-work");
  assert.deepEqual([status, attempts], ["queued", 1]);
  assert.match(String(history[0]?.error), /^the lease expired: the process ended or hung/);
  assert.equal(target.of("in-work").length, 1);
});

test("a last attempt that was killed with the server counts as dead-lettered", async () => {
  await using target = await startTarget();
  await using server = await startAgain(target, { RETRY_ATTEMPTS: "1" });
  await settled(server, "in-work", "event_dead_lettered");
  assert.deepEqual(await attemptsOf(server), ['authserve_attempts_total{outcome="dead_lettered"} 1']);
  assert.equal(target.of("in-work").length, 1);
});
