import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { openDatabase } from "../../src/sqlite/database.ts";
import { needsMount, needsStrace } from "../helpers/back-end.ts";
import { type Answer, ask, assertProblem, deliver, event, logIn, notReady } from "../helpers/client.ts";
import { type Server, startServer } from "../helpers/server.ts";
import { mountDisk } from "../helpers/small-disk.ts";
import { list, settled } from "../helpers/stored-events.ts";
import { injectFaults } from "../helpers/strace.ts";
import { startTarget } from "../helpers/target.ts";
import { never, until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";

function assertPaused(answer: Answer): void {
  assertProblem(answer, 503, "intake_paused", "Deliveries are paused; deliver again later");
  assert.match(answer.headers.get("retry-after") ?? "", /^[1-9][0-9]*$/);
}

async function metric(server: Server, name: string): Promise<number> {
  const { text } = await ask(server, "/metrics");
  const line = text.split("\n").find((candidate) => candidate.startsWith(`${name} `));
  assert.ok(line, `${name} is not in\n${text}`);
  return Number(line.slice(name.length + 1));
}

const pausedMetric = (server: Server, reason: string) => metric(server, `authserve_intake_paused{reason="${reason}"}`);

async function assertNotReady(server: Server, about: RegExp): Promise<void> {
  const answer = await ask(server, "/readyz");
  assert.deepEqual([answer.status, notReady(answer)], [503, ["intake"]]);
  const line = await server.logged("not_ready");
  assert.equal(line.part, "intake");
  assert.match(String(line.error), about);
}

async function assertOpen(server: Server, reason: string): Promise<void> {
  const resumed = await server.logged("intake_resumed");
  assert.deepEqual([resumed.level, resumed.reason], ["info", reason]);
  assert.equal((await ask(server, "/readyz")).status, 200);
  assert.equal(await pausedMetric(server, reason), 0);
  for (const name of ["intake_paused", "intake_resumed"]) assert.equal(server.log(name).length, 1, name);
}

test(
  "deliveries are paused while less space than MIN_FREE_DISK is free, and resumed by themselves",
  needsMount(),
  async (t) => {
    const dir = workingDir();
    const filler = join(dir, "data", "filler");
    mountDisk(t, join(dir, "data"), "16m");
    await using server = await startServer({ dir, env: { MIN_FREE_DISK: "8m" } });
    assert.equal((await deliver(server, event("before"))).status, 200);
    await settled(server, "before");

    writeFileSync(filler, Buffer.alloc(10 * 1024 ** 2));
    const paused = await server.logged("intake_paused");
    assert.deepEqual([paused.level, paused.reason, paused.minFreeBytes], ["warn", "disk_low", 8 * 1024 ** 2]);
    assert.ok(Number(paused.freeBytes) < 8 * 1024 ** 2);
    assert.match(paused.message, /MIN_FREE_DISK/);
    assertPaused(await deliver(server, event("during")));
    await assertNotReady(server, /MIN_FREE_DISK/);
    assert.equal(await pausedMetric(server, "disk_low"), 1);
    assert.equal(await pausedMetric(server, "queue_old"), 0);
    const free = await metric(server, "authserve_disk_free_bytes");
    assert.ok(free > 0 && free < 8 * 1024 ** 2);
    await logIn(server);
    assert.deepEqual(
      (await list(server)).map(({ eventId }) => eventId),
      ["before"],
    );

    rmSync(filler);
    await until(async () => (await deliver(server, event("during"))).status === 200);
    await settled(server, "during");
    await assertOpen(server, "disk_low");
  },
);

test("a server that starts on a disk with little space pauses deliveries from the first on, but tells only genuine ones", async () => {
  await using server = await startServer({ env: { MIN_FREE_DISK: "1000000g" } });
  assertPaused(await deliver(server, event("first")));
  const refused = await until(() => server.log("request_completed").find(({ code }) => code === "intake_paused"));
  assert.equal(refused.reason, "disk_low");
  assertProblem(await deliver(server, event("x"), { "X-Signature": "0".repeat(64) }), 403, "signature_mismatch");
  assertProblem(await deliver(server, "{}{}"), 400, "invalid_payload");
  assertPaused(await deliver(server, event("x")));
  const { text } = await ask(server, "/metrics");
  assert.match(text, /^authserve_deliveries_refused_total\{code="intake_paused"\} 2$/m);
  assert.match(text, /^authserve_deliveries_not_genuine_total\{reason="signature_mismatch"\} 1$/m);
  assert.doesNotMatch(text, /not_genuine_total\{reason="disk_low"\}/);
  assert.deepEqual(await list(server), []);
});

/** Makes the events of a server older, as if they had waited for two hours. */
function letWait(server: Server): void {
  const database = openDatabase(String(server.env.DATA_DIR));
  database.exec("UPDATE events SET received_at = received_at - 7200000");
  database.close();
}

test("deliveries are paused while an event is queued for longer than MAX_QUEUE_AGE", async () => {
  const pending: ServerResponse[] = [];
  await using target = await startTarget();
  target.answer((_request, response) => pending.push(response));
  await using server = await startServer({
    env: { FORWARD_URL: target.url, HANDLER_TIMEOUT: "1h", MAX_QUEUE_AGE: "1h" },
  });
  assert.equal((await deliver(server, event("waits"))).status, 200);
  await until(() => pending.length > 0);
  letWait(server);

  const paused = await server.logged("intake_paused");
  assert.deepEqual([paused.level, paused.reason, paused.maxQueueAgeSeconds], ["warn", "queue_old", 3600]);
  assert.ok(Number(paused.oldestQueuedSeconds) >= 7200);
  assertPaused(await deliver(server, event("during")));
  await assertNotReady(server, /MAX_QUEUE_AGE/);
  assert.equal(await pausedMetric(server, "queue_old"), 1);
  assert.equal(await pausedMetric(server, "disk_low"), 0);
  await logIn(server);

  target.answer((_request, response) => response.writeHead(204).end());
  for (const response of pending) response.writeHead(204).end();
  await settled(server, "waits");
  await until(async () => (await deliver(server, event("during"))).status === 200);
  await settled(server, "during");
  await assertOpen(server, "queue_old");
});

test("a disk that hangs stops neither requests nor the check of the queue", needsStrace(), async (t) => {
  await using target = await startTarget();
  target.answer(() => {});
  await using server = await startServer({ env: { FORWARD_URL: target.url, MAX_QUEUE_AGE: "1h" } });
  assert.equal((await deliver(server, event("waits"))).status, 200);
  const faults = await injectFaults(t, server.pid, "statfs:delay_enter=3s");
  await until(async () => Number.isNaN(await metric(server, "authserve_disk_free_bytes")));
  letWait(server);
  assert.equal((await server.logged("intake_paused")).reason, "queue_old");
  assertPaused(await deliver(server, event("during")));
  await faults.end();
  await until(async () => (await metric(server, "authserve_disk_free_bytes")) > 0);
  assert.equal(await pausedMetric(server, "disk_low"), 0);
});

test("an old queue pauses nothing without MAX_QUEUE_AGE", async () => {
  await using target = await startTarget();
  target.answer(() => {});
  await using server = await startServer({ env: { FORWARD_URL: target.url } });
  assert.equal((await deliver(server, event("waits"))).status, 200);
  letWait(server);
  await until(async () => (await metric(server, "authserve_events_oldest_queued_seconds")) > 7000);
  // The admission checks every second.
  await never(() => server.log("intake_paused").length > 0, 2000);
  assert.equal((await deliver(server, event("later"))).status, 200);
});
