import assert from "node:assert/strict";
import { test } from "node:test";
import { deliver, event } from "../helpers/client.ts";
import { freePort } from "../helpers/ports.ts";
import { startServer } from "../helpers/server.ts";
import { settled, showJob, stats } from "../helpers/stored-events.ts";
import { startTarget } from "../helpers/target.ts";
import { until } from "../helpers/until.ts";

const EVENTS = 60;
const ATTEMPTS = 3;

test("an outage of the target costs no event its attempts, and all are delivered when it is back", async () => {
  await using target = await startTarget();
  const env = {
    FORWARD_URL: target.url,
    RETRY_ATTEMPTS: String(ATTEMPTS),
    RETRY_DELAY: "50ms",
    WORKER_CONCURRENCY: "4",
  };
  await using server = await startServer({ env });
  let isDown = true;
  // Responses wait until all events are stored. Otherwise the first events would be attempted repeatedly before that.
  const areAllThere = Promise.withResolvers<void>();
  target.answer(async (_, response) => {
    await areAllThere.promise;
    response.writeHead(isDown ? 503 : 204).end();
  });

  for (let n = 0; n < EVENTS; n++) assert.equal((await deliver(server, event(`evt_${n}`))).status, 200);
  areAllThere.resolve();
  await server.logged("target_unavailable");
  // In this second, each event could have used up its attempts many times.
  await until(() => target.received.length >= 6);
  assert.ok(target.received.length < 30, `${target.received.length} requests while it was down`);
  assert.equal((await stats(server)).failed, 0);

  isDown = false;
  await server.logged("target_available");
  await until(() => server.log("event_processed").length === EVENTS);
  assert.equal((await stats(server)).failed, 0);
});

test("an unreachable target is tried from time to time, and most events keep their attempts", async () => {
  const port = await freePort();
  await using server = await startServer({
    env: { FORWARD_URL: `http://127.0.0.1:${port}/events`, RETRY_ATTEMPTS: "2", RETRY_DELAY: "50ms" },
  });
  for (let n = 0; n < 20; n++) await deliver(server, event(`evt_${n}`));
  await server.logged("target_unavailable");
  const counts = await stats(server);
  // Events in flight when the breaker opened may have used up their attempts. Later ones have not.
  assert.ok(Number(counts.failed) <= 10, `${counts.failed} dead letters`);
  assert.ok(Number(counts.queued) >= 10);
});

test("an event tells that its target is unavailable, and when it is tried next", async () => {
  const port = await freePort();
  await using server = await startServer({
    env: { FORWARD_URL: `http://127.0.0.1:${port}/events`, RETRY_ATTEMPTS: "10", RETRY_DELAY: "1h" },
  });
  for (let n = 0; n < 6; n++) await deliver(server, event(`evt_${n}`));
  await server.logged("target_unavailable");
  const waits = async () => {
    const { stdout } = await server.run(["events", "show", "evt_5", "--json"]);
    return JSON.parse(stdout).jobs[0].waits;
  };
  const waiting = await until(async () => {
    const found = await waits();
    return found.reason === "target_unavailable" ? found : null;
  });
  assert.ok(Date.parse(waiting.since) <= Date.now());
  const { stdout } = await server.run(["events", "show", "evt_5"]);
  assert.match(stdout, /^route +default, [01] of 10 attempts(, and [0-9]+ probes?)?$/m);
  assert.match(
    stdout,
    /^waits +for the target, unavailable for [0-9]+ s, (next probe in [0-9]+ s|a probe is running|the next event that is due tries it): authserve routes try default$/m,
  );
  const routes = await server.run(["routes", "list"]);
  assert.match(routes.stdout, /^default +unavailable /m);
  assert.match(
    routes.stderr,
    /^The target of default has been unavailable for .*\.\nTo try it now: authserve routes try default$/m,
  );
  const tried = await server.run(["routes", "try", "default"]);
  assert.deepEqual([tried.code, tried.stderr], [0, "A server tries the target of default now.\n"]);
});

test("a target that rejects an event does not count as unavailable", async () => {
  await using target = await startTarget();
  await using server = await startServer({
    env: { FORWARD_URL: target.url, RETRY_ATTEMPTS: "1" },
  });
  target.answer(({ headers }, response) => {
    response.writeHead(headers["x-event-id"] === "good" ? 204 : 400).end();
  });
  for (let n = 0; n < 12; n++) await deliver(server, event(`bad_${n}`));
  await deliver(server, event("good"));
  await until(() => server.log("event_dead_lettered").length === 12);
  await settled(server, "good");
  assert.deepEqual(server.log("target_unavailable"), []);
});

test("Retry-After delays an event", async () => {
  await using target = await startTarget();
  await using server = await startServer({ env: { FORWARD_URL: target.url, RETRY_DELAY: "10ms" } });
  target.answer((_, response) => response.writeHead(429, { "Retry-After": "3600" }).end());
  await deliver(server, event("later"));
  await settled(server, "later", "event_retried");
  const { nextAttemptAt, history } = await showJob(server, "later");
  assert.equal(Date.parse(String(nextAttemptAt)) - Date.parse(String(history[0]?.finishedAt)), 3_600_000);
});
