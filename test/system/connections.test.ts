import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { after, test } from "node:test";
import { ask, logIn } from "../helpers/client.ts";
import { PASSWORD } from "../helpers/credentials.ts";
import {
  gather,
  HEALTH,
  JSON_TYPE,
  openRaw,
  rawLogin,
  sendRaw,
  statusesIn,
  wholeDelivery,
} from "../helpers/raw-http.ts";
import { startServer } from "../helpers/server.ts";
import { PLAUSIBLE } from "../helpers/sign.ts";
import { until } from "../helpers/until.ts";

const server = await startServer();
after(() => server[Symbol.asyncDispose]());

test("requests pipelined after a logout or login see its effect", async () => {
  const ask = (line: string, token: string) =>
    `${line} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n`;
  const meWith = (token: string, ...lines: string[]) => `${ask("GET /auth/me", token)}${lines.join("")}\r\n`;
  const last = "Connection: close\r\n";
  for (let round = 0; round < 10; round++) {
    const token = await logIn(server);
    const out = await sendRaw(
      server.port,
      `${meWith(token)}${ask("POST /auth/logout", token)}\r\n${meWith(token)}${meWith(token, last)}`,
    );
    assert.deepEqual(statusesIn(out.text), [200, 200, 401, 401]);
    const earlier = await logIn(server);
    assert.deepEqual(
      statusesIn((await sendRaw(server.port, rawLogin(PASSWORD) + meWith(earlier, last))).text),
      [200, 401],
    );
  }
});

test("input that is not HTTP is answered after the requests before it", async () => {
  const { text } = await sendRaw(
    server.port,
    `${wholeDelivery("before-1")}${wholeDelivery("before-2")}GARBAGE\r\n\r\n`,
  );
  assert.deepEqual(statusesIn(text), [200, 200, 400]);
  assert.ok(text.indexOf("before-1") < text.indexOf("before-2"));
  const large = `GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ${"x".repeat(20_000)}\r\n\r\n`;
  assert.deepEqual(statusesIn((await sendRaw(server.port, wholeDelivery("before-3") + large)).text), [200, 431]);
});

test("a request with an invalid chunk is answered after the request before it", async () => {
  const head = `POST /webhook HTTP/1.1\r\nHost: localhost\r\n${JSON_TYPE}\r\nTransfer-Encoding: chunked\r\n\r\n`;
  const { text } = await sendRaw(server.port, `${wholeDelivery("before-chunk")}${head}ZZ\r\n`);
  assert.deepEqual(statusesIn(text), [200, 400]);
});

test("a connection that keeps sending invalid HTTP gets one response", async () => {
  const socket = await openRaw(server.port);
  const received = gather(socket);
  const closed = once(socket, "close");
  socket.write(wholeDelivery("before-many"));
  for (let i = 0; i < 50; i++) {
    socket.write("@");
    await new Promise((resolve) => setImmediate(resolve));
  }
  await closed;
  assert.deepEqual(statusesIn(received()), [200, 400]);
  assert.equal(server.stderr(), "");
});

test("CONNECT is answered 404 in order, and a reset of its connection has no effect on others", async () => {
  const ask404 = "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n";
  const { status, headers } = await sendRaw(server.port, ask404);
  assert.equal(status, 404);
  assert.ok(headers["x-request-id"]);
  assert.deepEqual(statusesIn((await sendRaw(server.port, wholeDelivery("before-connect") + ask404)).text), [200, 404]);
  for (let i = 0; i < 10; i++) {
    const socket = await openRaw(server.port);
    socket.write(ask404);
    if (i % 2 === 0) await once(socket, "data");
    socket.resetAndDestroy();
    await once(socket, "close");
  }
  assert.equal((await ask(server, "/healthz")).status, 200);
});

test("a client that has half closed its connection gets its responses", async () => {
  const socket = connect({ port: server.port, host: "127.0.0.1", allowHalfOpen: true });
  const received = gather(socket);
  const closed = once(socket, "end");
  socket.end(wholeDelivery("half-closed"));
  await closed;
  socket.destroy();
  assert.deepEqual(statusesIn(received()), [200]);
});

test("invalid HTTP after a running login is answered, even if the client has half closed its connection", async () => {
  for (const [behind, status] of [
    ["FOO /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", 405],
    ["\0\0\0\r\n\r\n", 400],
    [`GET /healthz HTTP/1.1\r\nX: ${"x".repeat(17_000)}\r\n\r\n`, 431],
  ] as const) {
    const socket = connect({ port: server.port, host: "127.0.0.1", allowHalfOpen: true });
    const received = gather(socket);
    const closed = once(socket, "end");
    socket.end(rawLogin() + behind);
    await closed;
    socket.destroy();
    assert.deepEqual(statusesIn(received()), [401, status]);
  }
});

test("a request with Upgrade is answered in HTTP/1.1, as the last one on its connection", async () => {
  for (const protocol of ["h2c", "websocket"]) {
    const asking = `Host: localhost\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n`;
    const get = `GET /healthz HTTP/1.1\r\n${asking}\r\n`;
    const post = `POST /webhook HTTP/1.1\r\n${asking}${JSON_TYPE}\r\nContent-Length: 2\r\n\r\n{}`;
    for (const [first, status] of [
      [get, 200],
      [post, 403],
    ] as const) {
      const { headers, text } = await sendRaw(server.port, first + HEALTH);
      assert.deepEqual(statusesIn(text), [status]);
      assert.equal(headers.connection, "close");
    }
    // Node drops the headers of this POST with the rest of the packet. Its body must not be parsed as a request.
    const socket = await openRaw(server.port);
    const received = gather(socket);
    const closed = once(socket, "close");
    socket.write(
      `${wholeDelivery("before-upgrade")}${get}POST /webhook HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${HEALTH.length}\r\n\r\n`,
    );
    socket.write(HEALTH);
    await closed;
    assert.deepEqual(statusesIn(received()), [200, 200]);
  }
});

test("a request with Upgrade and an aborted body is answered at once", async () => {
  const head = `POST /auth/login HTTP/1.1\r\nHost: localhost\r\n${JSON_TYPE}\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 30\r\n\r\n`;
  const socket = connect({ port: server.port, host: "127.0.0.1", allowHalfOpen: true });
  const received = gather(socket);
  const closed = once(socket, "end");
  socket.end(`${head}{`);
  await closed;
  socket.destroy();
  assert.deepEqual(statusesIn(received()), [400]);
});

test("input after a request with Connection: close gets no response", async () => {
  const last = HEALTH.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
  for (const behind of [HEALTH, "FOO / HTTP/1.1\r\n\r\n", "\0\0"]) {
    assert.deepEqual(statusesIn((await sendRaw(server.port, last + behind)).text), [200]);
  }
});

test("a response has Keep-Alive with the timeout, unless it is the last one", async () => {
  const kept = (text: string) => /^Keep-Alive: (.*)\r$/m.exec(text)?.[1];
  const [first = "", last = ""] = (
    await sendRaw(server.port, `${HEALTH}${HEALTH.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n")}`)
  ).text.split(/(?<=})(?=HTTP)/);
  assert.equal(kept(first), "timeout=65");
  assert.match(last, /^Connection: close\r$/m);
  assert.equal(kept(last), undefined);
});

test("a request may have at most 100 headers", async () => {
  const asking = (count: number) => `Host: localhost\r\nConnection: close\r\n${"a: b\r\n".repeat(count - 2)}\r\n`;
  assert.equal((await sendRaw(server.port, `GET /healthz HTTP/1.1\r\n${asking(100)}`)).status, 200);
  const { status, body } = await sendRaw(server.port, `GET /healthz HTTP/1.1\r\n${asking(101)}`);
  assert.equal(status, 431);
  assert.match(body, /"code":"headers_too_large"/);
});

test("32 KiB of cookies may come besides 16 KiB of other headers", async () => {
  const asking = (name: string, length: number) =>
    `GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${name}: ${"x".repeat(length)}\r\n\r\n`;
  assert.equal((await sendRaw(server.port, asking("Cookie", 32 * 1024))).status, 200);
  assert.equal((await sendRaw(server.port, asking("a", 16_000))).status, 200);
  for (const [name, length] of [
    ["a", 17_000],
    ["Cookie", 50_000],
  ] as const) {
    const { status, body } = await sendRaw(server.port, asking(name, length));
    assert.equal(status, 431);
    assert.match(body, /"code":"headers_too_large"/);
  }
});

test("100 requests may wait for responses on one connection, and more close it", async () => {
  const many = await sendRaw(
    server.port,
    `${HEALTH.repeat(99)}${HEALTH.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n")}`,
  );
  assert.deepEqual(statusesIn(many.text), Array(100).fill(200));
  const socket = await openRaw(server.port);
  const closed = new Promise((resolve) => socket.on("close", resolve));
  socket.resume().write(HEALTH.repeat(2000));
  await closed;
  assert.equal((await ask(server, "/healthz")).status, 200);
});

test("a request with an invalid body is answered and logged under the client's request id", async () => {
  const head = `POST /webhook HTTP/1.1\r\nHost: localhost\r\n${JSON_TYPE}\r\nX-Request-ID: broken-chunk\r\nX-Signature: ${PLAUSIBLE}\r\nTransfer-Encoding: chunked\r\n\r\n`;
  const { headers, text } = await sendRaw(server.port, `${head}ZZ\r\n`);
  assert.deepEqual(statusesIn(text), [400]);
  assert.equal(headers["x-request-id"], "broken-chunk");
  const lines = () => server.log("request_completed").filter(({ requestId }) => requestId === "broken-chunk");
  await until(() => lines().length === 1);
  assert.deepEqual(
    lines().map(({ status, code }) => [status, code]),
    [[400, "bad_request"]],
  );
});
