import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import dns from "node:dns";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net";
import { suite, type TestContext, test } from "node:test";
import type { TLSSocket } from "node:tls";
import { describeError } from "../../../src/errors.ts";
import type { ClaimedJob } from "../../../src/events/job.ts";
import { findPort } from "../../../src/http/listen.ts";
import { signAsSender } from "../../../src/webhook/samples/signed-again.ts";
import { runEvent } from "../../../src/worker/attempt.ts";
import { createHttpHandler } from "../../../src/worker/handlers/http.ts";
import { HTTP_METHODS, type TargetTls } from "../../../src/worker/route.ts";
import { pairNamed } from "../../helpers/tls.ts";
import { until } from "../../helpers/until.ts";

const NEVER = new AbortController().signal;

function event(changes: Partial<ClaimedJob> = {}): ClaimedJob {
  const payload = Buffer.from([0x7b, 0xc3, 0xb1, 0x00, 0xff, 0x7d]);
  const identity = { event: 1, route: "default", source: "default", eventId: "evt_1", type: "push" };
  return {
    ...identity,
    contentType: "application/json; charset=utf-8",
    payload,
    headers: "{}",
    isReplay: false,
    attempt: 3,
    countedAttempt: 3,
    receivedAt: 1,
    attemptOfBudget: 1,
    ...changes,
  };
}

interface TlsPair {
  cert: string;
  key: string;
}

interface Received {
  request: IncomingMessage;
  body: Buffer;
}

/** A target on a free port with scripted answers, which stores the received requests. */
async function target(t: TestContext, answer: (response: ServerResponse, received: Received) => void, port = 0) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const entry = { request, body: Buffer.concat(await request.toArray()) };
    received.push(entry);
    answer(response, entry);
  });
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events?x=1`, received };
}

/** A target on a free port that writes a text to each connection and reads nothing. */
async function rawTarget(
  t: TestContext,
  answer: string,
  { connections = [], leave = () => {} }: { connections?: Socket[]; leave?: (socket: Socket) => void } = {},
): Promise<string> {
  const server = createTcpServer({ pauseOnConnect: true }, (socket) => {
    connections.push(socket.on("error", () => {}));
    socket.write(answer, () => leave(socket));
  });
  t.after(() => {
    server.close();
    for (const socket of connections) socket.destroy();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

/** A free one of the ports that the Fetch standard blocks. */
async function refusedPort(): Promise<number> {
  for (const port of [6000, 6665, 6666, 6667, 6668, 6669, 6697, 10_080]) {
    const free = await findPort({ port, host: "127.0.0.1" }).catch(() => null);
    if (free !== null) return free;
  }
  throw new Error("all of the ports are taken");
}

const withStatus =
  (status: number, headers: Record<string, string> = {}) =>
  (response: ServerResponse) =>
    void response.writeHead(status, headers).end("an answer");

suite("forwarding an event", () => {
  test("posts its raw bytes with its content type and its identity", async (t) => {
    const { url, received } = await target(t, withStatus(200));
    await createHttpHandler({ url, key: null }).run(event(), NEVER);
    const [{ request, body }] = received as [Received];
    assert.deepEqual(body, event().payload);
    assert.equal(request.method, "POST");
    assert.equal(request.url, "/events?x=1");
    const { headers } = request;
    assert.equal(headers["content-type"], "application/json; charset=utf-8");
    assert.equal(headers["idempotency-key"], "evt_1");
    assert.equal(headers["x-event-id"], "evt_1");
    assert.equal(headers["x-event-type"], "push");
    assert.equal(headers["x-event-source"], "default");
    assert.equal(headers["x-attempt"], "3");
  });

  test("uses the method and the headers of its target", async (t) => {
    const { url, received } = await target(t, withStatus(200));
    for (const method of HTTP_METHODS) {
      const headers = { authorization: "Bearer a", "content-type": "text/plain" };
      await createHttpHandler({ url, key: null, method, headers }).run(event(), NEVER);
    }
    const seen = received.map(({ request: { method, headers }, body }) => [
      ...[method, headers.authorization, headers["content-type"], headers["transfer-encoding"], body.length],
    ]);
    assert.deepEqual(
      seen,
      HTTP_METHODS.map((method) => [
        ...[method, "Bearer a", "text/plain", undefined, method === "GET" || method === "DELETE" ? 0 : 6],
      ]),
    );
  });

  test("sends what a sender sends, signed anew with another secret", async (t) => {
    const { url, received } = await target(t, withStatus(200));
    const stored = { "x-github-event": "push", "x-github-delivery": "d-1", host: "auth.example", via: "1.1 proxy" };
    const signWith = { preset: "github", secret: "a secret of the target" };
    const handler = createHttpHandler({ url, key: null, headers: { "X-Fixed": "1" }, signWith }, signAsSender);
    const body = Buffer.from('{"data":"ñ"}');
    await handler.run(event({ headers: JSON.stringify(stored), payload: body }), NEVER);
    const [{ request, body: sent }] = received as [Received];
    const { headers } = request;
    assert.deepEqual(sent, body);
    assert.deepEqual(
      [headers["x-github-event"], headers["x-github-delivery"], headers.via, headers["x-fixed"], request.url],
      ["push", "d-1", undefined, "1", "/events?x=1"],
    );
    assert.equal(headers["content-length"], String(body.length));
    const signature = createHmac("sha256", signWith.secret).update(body).digest("hex");
    assert.equal(headers["x-hub-signature-256"], `sha256=${signature}`);
    assert.deepEqual(
      Object.keys(headers).filter((name) => /^(?:x-original|x-event|x-attempt|idempotency|webhook-)/.test(name)),
      [],
    );
  });

  test("gives a sender's query the values that the body has, since queries are not stored", async (t) => {
    const { url, received } = await target(t, withStatus(200));
    const signWith = { preset: "mercado_pago", secret: "a secret of the target" };
    const handler = createHttpHandler({ url, key: null, signWith }, signAsSender);
    const payload = Buffer.from('{"id":12345678901234567890,"type":"payment","data":{"id":"99"}}');
    await handler.run(event({ headers: '{"x-request-id":"r-1"}', payload }), NEVER);
    const { url: address, headers } = (received[0] as Received).request;
    assert.equal(address, "/events?x=1&data.id=99&type=payment");
    const [, time, signature] = /^ts=(\d+),v1=(.+)$/.exec(String(headers["x-signature"])) ?? [];
    const manifest = `id:99;request-id:r-1;ts:${time};`;
    assert.equal(signature, createHmac("sha256", signWith.secret).update(manifest).digest("hex"));
  });

  test("trusts the authority of its target, and shows its own certificate", async (t) => {
    const [own, others] = (["first", "second"] as const).map((name) => {
      const { cert, key } = pairNamed(name);
      return { cert: readFileSync(cert, "utf8"), key: readFileSync(key, "utf8") };
    }) as [TlsPair, TlsPair];
    const shown: boolean[] = [];
    const server = createTlsServer(
      { ...others, ca: own.cert, requestCert: true, rejectUnauthorized: false },
      (request, response) => {
        shown.push((request.socket as TLSSocket).authorized);
        response.writeHead(204).end();
      },
    );
    t.after(() => server.close().closeAllConnections());
    await once(server.listen(0, "127.0.0.1"), "listening");
    const url = `https://localhost:${(server.address() as AddressInfo).port}/`;
    const run = (tls?: TargetTls) => createHttpHandler({ url, key: null, ...(tls && { tls }) }).run(event(), NEVER);
    await assert.rejects(run(), /cannot be reached/);
    await assert.rejects(run({ ca: own.cert }), /cannot be reached/);
    await run({ ca: others.cert });
    await run({ ca: others.cert, ...own });
    assert.deepEqual(shown, [false, true]);
  });

  for (const status of [200, 201, 202, 204, 299]) {
    test(`succeeds with ${status}`, async (t) => {
      const { url, received } = await target(t, withStatus(status));
      await createHttpHandler({ url, key: null }).run(event(), NEVER);
      assert.equal(received.length, 1);
    });
  }

  for (const status of [300, 304, 400, 401, 404, 410, 429, 500, 503]) {
    test(`fails with ${status}, which the error names`, async (t) => {
      const { url } = await target(t, withStatus(status));
      await assert.rejects(createHttpHandler({ url, key: null }).run(event(), NEVER), new RegExp(`answered ${status}`));
    });
  }

  for (const status of [301, 302, 303, 307, 308]) {
    test(`fails with ${status} and does not follow the redirect`, async (t) => {
      const elsewhere = await target(t, withStatus(200));
      const { url, received } = await target(t, withStatus(status, { Location: elsewhere.url }));
      await assert.rejects(createHttpHandler({ url, key: null }).run(event(), NEVER), new RegExp(`answered ${status}`));
      assert.equal(received.length, 1);
      assert.equal(elsewhere.received.length, 0);
    });
  }

  test("reuses the connection, and works on a port that browsers block", async (t) => {
    const { url, received } = await target(t, withStatus(200), await refusedPort());
    const handler = createHttpHandler({ url, key: null });
    for (let count = 0; count < 3; count++) await handler.run(event(), NEVER);
    assert.equal(new Set(received.map(({ request }) => request.socket.remotePort)).size, 1);
  });

  test("fails at its time limit if the target does not answer, and closes the connection", async (t) => {
    let closed = false;
    const { url } = await target(t, (response) => {
      response.on("close", () => {
        closed = true;
      });
    });
    const outcome = await runEvent(createHttpHandler({ url, key: null }), event(), 150, NEVER);
    assert.deepEqual(outcome, {
      kind: "failed",
      error: "the handler did not finish within 150 ms",
      isUnavailable: true,
    });
    await until(() => closed);
  });

  test("does not wait for an endless body after a status of success", async (t) => {
    const { url } = await target(t, (response) => void response.writeHead(200).write("and so on"));
    const outcome = await runEvent(createHttpHandler({ url, key: null }), event(), 60_000, NEVER);
    assert.deepEqual(outcome, { kind: "succeeded", status: 200, response: "and so on" });
  });

  test("stores the first KiB of the answer, without a partial character", async (t) => {
    const said = `${"x".repeat(1023)}é${"y".repeat(5000)}`;
    for (const status of [200, 500]) {
      const { url } = await target(t, (response) => void response.writeHead(status).end(said));
      const outcome = await runEvent(createHttpHandler({ url, key: null }), event(), 60_000, NEVER);
      assert.equal("response" in outcome && outcome.response, "x".repeat(1023), `${status}`);
    }
  });

  test("waits one second for the body of a failure", async (t) => {
    const { url } = await target(t, (response) => {
      response.writeHead(500).flushHeaders();
      setTimeout(() => response.end("late, but in time"), 100);
    });
    const outcome = await runEvent(createHttpHandler({ url, key: null }), event(), 60_000, NEVER);
    assert.equal("response" in outcome && outcome.response, "late, but in time");
  });

  test("closes the connection of a target that answers early and stops reading the event", async (t) => {
    const url = await rawTarget(t, "HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n");
    const sockets: Socket[] = [];
    const keep = (message: unknown) => void sockets.push((message as { socket: Socket }).socket);
    subscribe("net.client.socket", keep);
    t.after(() => unsubscribe("net.client.socket", keep));
    const large = event({ payload: Buffer.alloc(16 * 1024 * 1024) });
    await assert.rejects(createHttpHandler({ url, key: null }).run(large, NEVER), /the target answered 413/);
    await until(() => sockets.length === 1 && sockets[0]?.destroyed);
  });

  test("succeeds at once if the target accepts it early, and sends the rest", async (t) => {
    let bytes = 0;
    const server = createTcpServer((socket) => {
      t.after(() => socket.destroy());
      socket.on("error", () => {});
      socket.write("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n");
      // Reads 4 MB a second, which takes longer than the limit for a target that reads nothing.
      socket.on("data", (chunk) => {
        bytes += chunk.length;
        socket.pause();
        setTimeout(() => socket.resume(), (chunk.length * 1000) / 4_000_000);
      });
    });
    t.after(() => server.close());
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const outcome = await runEvent(
      createHttpHandler({ url, key: null }),
      event({ payload: Buffer.alloc(16_000_000) }),
      60_000,
      NEVER,
    );
    assert.deepEqual(outcome, { kind: "succeeded", status: 202, response: undefined });
    assert.ok(bytes < 16_000_000);
    await until(() => bytes > 16_000_000);
  });

  for (const connection of ["close", "keep-alive"]) {
    for (const [how, leave] of [
      ["reads no more", () => {}],
      ["ends, and reads no more", (socket: Socket) => void socket.end()],
      ["resets the connection", (socket: Socket) => void socket.once("data", () => socket.resetAndDestroy())],
    ] as const) {
      test(`succeeds if the target accepts it unread and ${how}, Connection: ${connection}`, async (t) => {
        const connections: Socket[] = [];
        const answer = `HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\nConnection: ${connection}\r\n\r\n`;
        const url = await rawTarget(t, answer, { connections, leave });
        const large = event({ payload: Buffer.alloc(16 * 1024 * 1024) });
        assert.deepEqual(await runEvent(createHttpHandler({ url, key: null }), large, 60_000, NEVER), {
          kind: "succeeded",
          status: 202,
          response: undefined,
        });
        assert.equal(connections.length, 1);
      });
    }
  }

  test("fails at once if the target upgrades the protocol", async (t) => {
    const url = await rawTarget(t, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n");
    await assert.rejects(createHttpHandler({ url, key: null }).run(event(), NEVER), /the target answered 101/);
  });

  // Node reads none of these answers. Others have sent the event again and again:
  // https://github.com/postmanlabs/postman-app-support/issues/8656, https://github.com/node-fetch/node-fetch/issues/334
  for (const [what, headers] of [
    ["headers of 40 KB", `X-Debug: ${"x".repeat(40_000)}\r\n`],
    ["a control character", "X-Bad: a\x01b\r\n"],
    ["a space before a colon", "X-Bad : a\r\n"],
    ["a length beside chunks", "Transfer-Encoding: chunked\r\n"],
    ["line ends without CR", "X-Bad: a\n"],
  ] as const) {
    test(`succeeds by the status of an answer with ${what}`, async (t) => {
      const url = await rawTarget(t, `HTTP/1.1 200 OK\r\n${headers}Content-Length: 0\r\n\r\n`);
      assert.equal((await createHttpHandler({ url, key: null }).run(event(), NEVER))?.status, 200);
    });
  }

  test("fails by the status of an answer that cannot be read, or says that there is none", async (t) => {
    const refused = await rawTarget(t, "HTTP/1.1 422 No\nX-Bad : a\n\n");
    await assert.rejects(createHttpHandler({ url: refused, key: null }).run(event(), NEVER), {
      message: "the target answered 422",
      isUnavailable: false,
    });
    const tls = await rawTarget(t, "\x15\x03\x01\0\x02\x02\x0a");
    await assert.rejects(createHttpHandler({ url: tls, key: null }).run(event(), NEVER), {
      message: "the target's answer cannot be read",
      isUnavailable: true,
    });
  });

  // https://github.com/nodejs/node/issues/54359
  test("waits longer than a quarter of a second for an address of its target", async (t) => {
    const { url } = await target(t, withStatus(204));
    const addresses = ["127.0.0.1", "::1"].map((address) => ({ address, family: address === "::1" ? 6 : 4 }));
    const lookup = (_host: string, _options: object, callback: (error: null, found: object) => void) =>
      callback(null, addresses);
    t.mock.method(dns, "lookup", lookup as unknown as typeof dns.lookup);
    const handler = createHttpHandler({ url: url.replace("127.0.0.1", "app.invalid"), key: null });
    const running = handler.run(event(), NEVER);
    process.nextTick(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400));
    assert.equal((await running)?.status, 204);
  });

  test("goes over the proxy of the environment if Node is told to use it", async (t) => {
    const { url: proxy, received } = await target(t, withStatus(204));
    t.after(() => {
      for (const name of ["NODE_USE_ENV_PROXY", "HTTP_PROXY"]) delete process.env[name];
    });
    process.env.HTTP_PROXY = new URL(proxy).origin;
    const url = "http://app.invalid/hook";
    await assert.rejects(createHttpHandler({ url, key: null }).run(event(), NEVER), /cannot be reached/);
    process.env.NODE_USE_ENV_PROXY = "1";
    await createHttpHandler({ url, key: null }).run(event(), NEVER);
    assert.deepEqual(
      received.map(({ request }) => [request.method, request.url, request.headers.host]),
      [["POST", url, "app.invalid"]],
    );
  });

  test("fails with a reason if nothing listens or the connection breaks", async (t) => {
    const { url } = await target(t, (response) => void response.socket?.destroy());
    const outcome = await runEvent(createHttpHandler({ url, key: null }), event(), 60_000, NEVER);
    assert.ok(outcome.kind === "failed" && outcome.error.length > 5, JSON.stringify(outcome));
  });

  test("is not retried when a new connection is reset", async (t) => {
    let connections = 0;
    const server = createTcpServer((socket) => {
      connections++;
      socket.on("error", () => {}).once("data", () => socket.resetAndDestroy());
    });
    t.after(() => void server.close());
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const handler = createHttpHandler({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, key: null });
    await assert.rejects(handler.run(event(), NEVER), (error) => /ECONNRESET/.test(describeError(error)));
    assert.equal(connections, 1);
  });

  test("never names the payload in an error", async (t) => {
    const { url } = await target(t, (response, { body }) => void response.writeHead(500).end(body));
    const handler = createHttpHandler({ url, key: null });
    const outcome = await runEvent(handler, event({ payload: Buffer.from("hunter2") }), 60_000, NEVER);
    assert.ok(outcome.kind === "failed" && !outcome.error.includes("hunter2"));
  });
});

suite("an id as a header", () => {
  async function keysOf(t: TestContext, ids: string[]): Promise<string[]> {
    const { url, received } = await target(t, withStatus(200));
    for (const eventId of ids)
      await createHttpHandler({ url, key: null }).run(event({ eventId, type: eventId }), NEVER);
    return received.map(({ request }) => String(request.headers["idempotency-key"]));
  }

  test("is unchanged if it is printable ASCII", async (t) => {
    const ids = ["evt_1", "sha256:ab", "a/b+c=d", "{x}", "~!@#$^&*()"];
    assert.deepEqual(await keysOf(t, ids), ids);
  });

  test("is always printable ASCII", async (t) => {
    const ids = ["ñandú", "日本", "\u{1f600}", "a b", " a ", "a\r\nX-Evil: 1", "\0", "\u007f", "\ud800"];
    for (const key of await keysOf(t, ids)) assert.match(key, /^[\x21-\x7e]+$/);
  });

  test("is different for different ids", async (t) => {
    const ids = ["é", "%C3%A9", "a b", "a%20b", "e\u0301", "%", "%25"];
    assert.equal(new Set(await keysOf(t, ids)).size, ids.length);
  });
});
