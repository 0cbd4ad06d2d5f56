import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { after, test } from "node:test";
import { deliver, event } from "../helpers/client.ts";
import { freePort } from "../helpers/ports.ts";
import { startServer } from "../helpers/server.ts";
import { list, settled, show, showJob } from "../helpers/stored-events.ts";
import { startTarget } from "../helpers/target.ts";
import { until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";

const target = await startTarget();
const server = await startServer({
  env: { FORWARD_URL: target.url, RETRY_ATTEMPTS: "5", RETRY_DELAY: "20ms", WORKER_POLL_INTERVAL: "50ms" },
});
after(() => server[Symbol.asyncDispose]());
after(() => target[Symbol.asyncDispose]());

// Each event says how the target responds to it, so that the tests share one target.
target.answer(({ headers, body }, response) => {
  const { wants } = JSON.parse(body.toString("utf8")) as { wants?: number | "nothing" | "mended" };
  if (wants === "nothing") return;
  if (wants === "mended") return void response.writeHead(mended ? 200 : 500).end();
  if (wants === 503 && Number(headers["x-attempt"]) > 2) return void response.writeHead(202).end();
  response.writeHead(wants ?? 204, { Location: "/elsewhere" }).end("an answer that nobody reads");
});
let mended = false;

test("an event is forwarded with its bytes, its content type and its identity", async () => {
  const body = '{ "id":"forwarded", "type":"order.paid", "note":"ñ ☕" }\n';
  await deliver(server, body, { "Content-Type": "application/json; charset=utf-8", "X-Custom": "not forwarded" });
  await settled(server, "forwarded");
  const [request, ...more] = target.of("forwarded");
  assert.equal(more.length, 0);
  assert.equal(request?.body.toString("utf8"), body);
  const headers = request?.headers ?? {};
  assert.equal(headers["content-type"], "application/json; charset=utf-8");
  assert.equal(headers["idempotency-key"], "forwarded");
  assert.equal(headers["x-event-type"], "order.paid");
  assert.equal(headers["x-event-source"], "default");
  assert.equal(headers["x-attempt"], "1");
  assert.equal(headers["x-custom"], undefined);
  assert.equal(headers["x-signature"], undefined);
});

test("an id that is not a valid header value arrives percent-encoded", async () => {
  await deliver(server, event("id with ñ\r\nX-Injected: 1"));
  await until(() => target.of("id%20with%20%C3%B1%0D%0AX-Injected%3A%201").length === 1);
});

test("a failed attempt is repeated with the next number and the same idempotency key until it succeeds", async () => {
  await deliver(server, event("recovers", { wants: 503 }));
  await settled(server, "recovers");
  const requests = target.of("recovers");
  assert.deepEqual(
    requests.map(({ headers }) => headers["x-attempt"]),
    ["1", "2", "3"],
  );
  assert.deepEqual(new Set(requests.map(({ headers }) => headers["idempotency-key"])), new Set(["recovers"]));
  const stored = await show(server, "recovers");
  assert.equal(stored.status, "processed");
  assert.deepEqual(
    stored.jobs[0]?.history.map(({ outcome }) => outcome),
    ["failed", "failed", "succeeded"],
  );
  assert.equal(stored.lastError, null);
});

test("an event whose target answers 500 is dead-lettered after five attempts", async () => {
  await deliver(server, event("fails", { wants: 500 }));
  await settled(server, "fails", "event_dead_lettered");
  assert.deepEqual(
    target.of("fails").map(({ headers }) => headers["x-attempt"]),
    ["1", "2", "3", "4", "5"],
  );
  const stored = await show(server, "fails");
  assert.deepEqual([stored.status, stored.attempts, stored.processedAt], ["failed", 5, null]);
  assert.match(stored.lastError ?? "", /500/);
  assert.match(stored.jobs[0]?.deadLetter?.reason ?? "", /attempt 5 of 5/);
  assert.ok((await list(server, "--status", "failed")).some(({ eventId }) => eventId === "fails"));
});

test("a redirect is a failure and is not followed", async () => {
  await deliver(server, event("redirected", { wants: 307 }));
  await settled(server, "redirected", "event_dead_lettered");
  assert.equal(target.of("redirected").length, 5);
});

test("a replay after the target was repaired processes the event and keeps its history", async () => {
  await deliver(server, event("mended", { wants: "mended" }));
  await settled(server, "mended", "event_dead_lettered");
  mended = true;
  assert.equal((await server.run(["events", "replay", "mended"])).code, 0);
  await settled(server, "mended");
  const stored = await show(server, "mended");
  assert.deepEqual([stored.status, stored.attempts, stored.jobs[0]?.deadLetter], ["processed", 6, null]);
  assert.deepEqual(
    stored.jobs[0]?.history.map(({ outcome }) => outcome),
    [...Array(5).fill("failed"), "succeeded"],
  );
  assert.equal(target.of("mended").at(-1)?.headers["x-attempt"], "6");
});

// The targets of the other tests are unavailable, hang or break connections, so each has a route of its own.
const silent = await startTarget();
silent.answer(({ headers }, response) => {
  if (headers["x-event-type"] === "quick") response.writeHead(204).end();
});
after(() => silent[Symbol.asyncDispose]());
const held: ServerResponse[] = [];
const holding = await startTarget();
holding.answer(({ headers }, response) => {
  if (headers["x-attempt"] === "1") held.push(response);
  else response.writeHead(204).end();
});
after(() => holding[Symbol.asyncDispose]());

/** The ids of the events on raw connections to a target. */
const seen: Record<"breaks" | "closes", string[]> = { breaks: [], closes: [] };
let unread = 0;

const breaks = await startConnections((socket) => {
  let count = 0;
  socket.on("data", (chunk) => {
    seen.breaks.push(idIn(chunk));
    if (count++ === 0) return void socket.write("HTTP/1.1 204 No Content\r\n\r\n");
    socket.write("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nok", () => socket.resetAndDestroy());
  });
});

// Responds to the first event of a connection, and resets the connection at the next one.
const closes = await startConnections((socket) => {
  let answered = false;
  socket.on("data", (chunk) => {
    if (answered) {
      unread++;
      socket.resetAndDestroy();
      return;
    }
    answered = true;
    seen.closes.push(idIn(chunk));
    socket.write("HTTP/1.1 204 No Content\r\n\r\n");
  });
});

/** Starts a target with a handler for its raw connections. Returns its URL. */
async function startConnections(onConnection: (socket: Socket) => void): Promise<string> {
  const listening = createServer((socket) => {
    socket.on("error", () => {});
    onConnection(socket);
  });
  await new Promise<void>((resolve) => listening.listen(0, "127.0.0.1", resolve));
  after(() => listening.close());
  return `http://127.0.0.1:${(listening.address() as AddressInfo).port}/`;
}

function idIn(chunk: string | Buffer): string {
  return /x-event-id: (\S+)/i.exec(String(chunk))?.[1] ?? "";
}

const HELD_MS = 2000;
const closedPort = await freePort();
const dir = workingDir();
writeFileSync(
  join(dir, "authserve.yaml"),
  `routes:
  - { name: hangs, types: [hangs], to: "${silent.url}?hangs", retry: { attempts: 5, delay: 20ms } }
  - { name: slow, types: [slow, quick], http: { url: ${silent.url}, timeout: 1h } }
  - { name: refuses, types: [refused], http: { url: "http://127.0.0.1:${closedPort}/", timeout: 1h }, retry: { attempts: 2, delay: 10ms } }
  - { name: breaks, types: [breaks], http: { url: ${breaks}, timeout: 1h }, retry: { attempts: 1 } }
  - { name: closes, types: [closes], http: { url: ${closes}, timeout: 1h }, retry: { attempts: 1 } }
  - { name: holds, types: [held], http: { url: ${holding.url}, timeout: ${HELD_MS}ms } }
`,
);
const routed = await startServer({ dir, env: { HANDLER_TIMEOUT: "50ms" } });
after(() => routed[Symbol.asyncDispose]());

test("an event is dead-lettered after five timeouts of its target", async () => {
  await deliver(routed, event("hangs", { type: "hangs" }));
  await settled(routed, "hangs", "event_dead_lettered");
  const { history } = await showJob(routed, "hangs");
  assert.equal(history.length, 5);
  for (const { error } of history) assert.match(error ?? "", /\b50 ms/);
});

test("slow events do not delay others", async () => {
  const slow = Array.from({ length: 5 }, (_, n) => `slow-${n}`);
  for (const id of slow) await deliver(routed, event(id, { type: "slow" }));
  await until(() => slow.every((id) => silent.of(id).length > 0));
  const others = Array.from({ length: 20 }, (_, n) => `quick-${n}`);
  await Promise.all(others.map((id) => deliver(routed, event(id, { type: "quick" }))));
  for (const id of others) await settled(routed, id);
});

test("a target that refuses connections is a failure like any other", async () => {
  await deliver(routed, event("refused", { type: "refused" }));
  await settled(routed, "refused", "event_dead_lettered");
  assert.match((await show(routed, "refused")).lastError ?? "", /ECONNREFUSED/);
});

test("an event is not sent again if its connection breaks after the response headers", async () => {
  const ids = ["whole", "broken", "after"];
  for (const id of ids) {
    await deliver(routed, event(id, { type: "breaks" }));
    await settled(routed, id);
  }
  assert.deepEqual(seen.breaks, ids);
});

test("a keep-alive connection that the target has closed costs no attempt", async () => {
  const ids = ["kept-1", "kept-2", "kept-3"];
  for (const id of ids) {
    await deliver(routed, event(id, { type: "closes" }));
    await settled(routed, id);
  }
  assert.deepEqual(
    (await list(routed, "--type", "closes")).map(({ status, attempts }) => [status, attempts]),
    Array(3).fill(["processed", 1]),
  );
  assert.deepEqual(seen.closes, ids);
  assert.ok(unread > 0);
});

test("a response that arrived in time counts, even if the process was stopped until after the timeout", async () => {
  /** Stops the process during an attempt. Returns the event, or null if the attempt may have timed out before. */
  async function stopDuring(id: string): Promise<string | null> {
    const [count, startedAt] = [held.length, performance.now()];
    await deliver(routed, event(id, { type: "held" }));
    await until(() => held.length > count);
    routed.signal("SIGSTOP");
    held.at(-1)?.writeHead(204).end();
    const answeredAt = performance.now();
    await until(() => performance.now() > answeredAt + HELD_MS);
    routed.signal("SIGCONT");
    await settled(routed, id);
    return answeredAt - startedAt < HELD_MS ? id : null;
  }

  let round = 0;
  const id = await until(() => stopDuring(`held-${round++}`));
  assert.equal((await show(routed, id)).attempts, 1);
  assert.equal(holding.of(id).length, 1);
});
