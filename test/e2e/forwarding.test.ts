import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { after, type TestContext, test } from "node:test";
import { deliver, event } from "../helpers/client.ts";
import { startServer } from "../helpers/server.ts";
import { list, settled, show } from "../helpers/stored-events.ts";
import { startTarget } from "../helpers/target.ts";
import { until } from "../helpers/until.ts";

const target = await startTarget();
const env = {
  FORWARD_URL: target.url,
  RETRY_ATTEMPTS: "5",
  RETRY_DELAY: "20ms",
  HANDLER_TIMEOUT: "300ms",
  WORKER_POLL_INTERVAL: "50ms",
};
const server = await startServer({ env });
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
  await until(() => target.of("id%20with%20%C3%B1%0D%0AX-Injected%3A%201").length === 1, 5000);
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

test("an event is dead-lettered after five timeouts of its target", async () => {
  // Uses its own server, because the target then counts as unavailable.
  await using own = await startServer({ env });
  await deliver(own, event("hangs", { wants: "nothing" }));
  await settled(own, "hangs", "event_dead_lettered", 8000);
  const stored = await show(own, "hangs");
  assert.equal(target.of("hangs").length, 5);
  assert.match(stored.lastError ?? "", /300 ms/);
});

test("slow events do not delay others", async () => {
  await using own = await startServer({ env: { ...env, HANDLER_TIMEOUT: "5s" } });
  const slow = Array.from({ length: 5 }, (_, n) => `slow-${n}`);
  for (const id of slow) await deliver(own, event(id, { wants: "nothing" }));
  await until(() => slow.every((id) => target.of(id).length > 0), 5000);
  const others = Array.from({ length: 20 }, (_, n) => `quick-${n}`);
  await Promise.all(others.map((id) => deliver(own, event(id))));
  for (const id of others) await settled(own, id);
  assert.ok(own.log("event_dead_lettered").every(({ eventId }) => !slow.includes(String(eventId))));
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

test("a target that refuses connections is a failure like any other", async () => {
  const closed = createServer();
  await new Promise<void>((resolve) => closed.listen(0, "127.0.0.1", resolve));
  const { port } = closed.address() as { port: number };
  await new Promise((resolve) => closed.close(resolve));
  await using lonely = await startServer({
    env: { FORWARD_URL: `http://127.0.0.1:${port}/`, RETRY_DELAY: "10ms", RETRY_ATTEMPTS: "2" },
  });
  await deliver(lonely, event("refused"));
  await settled(lonely, "refused", "event_dead_lettered");
  assert.match((await show(lonely, "refused")).lastError ?? "", /ECONNREFUSED/);
});

/** A target with a handler for its raw connections. Returns its URL. */
async function startConnections(t: TestContext, onConnection: (socket: Socket) => void): Promise<string> {
  const listening = createServer((socket) => {
    socket.on("error", () => {});
    onConnection(socket);
  });
  await new Promise<void>((resolve) => listening.listen(0, "127.0.0.1", resolve));
  t.after(() => listening.close());
  return `http://127.0.0.1:${(listening.address() as AddressInfo).port}/`;
}

const idIn = (chunk: string | Buffer) => /x-event-id: (\S+)/i.exec(String(chunk))?.[1] ?? "";

test("an event is not sent again if its connection breaks after the response headers", async (t) => {
  const seen: string[] = [];
  const url = await startConnections(t, (socket) => {
    let count = 0;
    socket.on("data", (chunk) => {
      seen.push(idIn(chunk));
      if (count++ === 0) return void socket.write("HTTP/1.1 204 No Content\r\n\r\n");
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nok", () => socket.resetAndDestroy());
    });
  });
  await using own = await startServer({ env: { FORWARD_URL: url, RETRY_ATTEMPTS: "1" } });
  for (const id of ["whole", "broken", "after"]) {
    await deliver(own, event(id));
    await settled(own, id);
  }
  assert.deepEqual(seen, ["whole", "broken", "after"]);
});

test("a keep-alive connection that the target has closed costs no attempt", async (t) => {
  const seen: string[] = [];
  let unread = 0;
  // Responds to the first event of a connection, and resets the connection at the next one.
  const url = await startConnections(t, (socket) => {
    let answered = false;
    socket.on("data", (chunk) => {
      if (answered) {
        unread++;
        socket.resetAndDestroy();
        return;
      }
      answered = true;
      seen.push(idIn(chunk));
      socket.write("HTTP/1.1 204 No Content\r\n\r\n");
    });
  });
  await using own = await startServer({ env: { FORWARD_URL: url, RETRY_ATTEMPTS: "1" } });
  for (const id of ["kept-1", "kept-2", "kept-3"]) {
    await deliver(own, event(id));
    await settled(own, id);
  }
  assert.deepEqual(
    (await list(own)).map(({ status, attempts }) => [status, attempts]),
    Array(3).fill(["processed", 1]),
  );
  assert.deepEqual(seen, ["kept-1", "kept-2", "kept-3"]);
  assert.ok(unread > 0);
});

test("a response that arrived in time counts, even if the process was stopped until after the timeout", async () => {
  await using slow = await startTarget();
  const answers: ServerResponse[] = [];
  slow.answer((_, response) => void answers.push(response));
  await using paused = await startServer({ env: { FORWARD_URL: slow.url, HANDLER_TIMEOUT: "1s" } });
  await deliver(paused, event("paused"));
  await until(() => answers.length === 1, 5000);
  paused.signal("SIGSTOP");
  answers[0]?.writeHead(204).end();
  const timedOutAt = (slow.of("paused")[0]?.at ?? 0) + 1500;
  await until(() => performance.now() > timedOutAt, 5000);
  paused.signal("SIGCONT");
  await settled(paused, "paused");
  assert.equal((await show(paused, "paused")).attempts, 1);
  assert.equal(slow.of("paused").length, 1);
});
