import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { after, test } from "node:test";
import { ask, deliver, event, logIn } from "../helpers/client.ts";
import { EMAIL, PASSWORD } from "../helpers/credentials.ts";
import { sendRaw, statusesIn } from "../helpers/raw-http.ts";
import { startServer } from "../helpers/server.ts";
import { signature } from "../helpers/sign.ts";
import { until } from "../helpers/until.ts";

const server = await startServer();
after(() => server[Symbol.asyncDispose]());

const JSON_TYPE = "Content-Type: application/json";

function delivery(id: string, ...lines: string[]): { head: string; body: string } {
  const body = JSON.stringify(event(id));
  const head = [
    "POST /webhook HTTP/1.1",
    "Host: localhost",
    JSON_TYPE,
    `X-Signature: ${signature(body)}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...lines,
  ];
  return { head: `${head.join("\r\n")}\r\n\r\n`, body };
}

function whole(id: string): string {
  const { head, body } = delivery(id);
  return head + body;
}

async function open(): Promise<Socket> {
  const socket = connect(server.port, "127.0.0.1");
  socket.on("error", () => {});
  await once(socket, "connect");
  return socket;
}

/** Keeps what comes. */
function gather(socket: Socket): () => string {
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk;
  });
  return () => text;
}

/** A login that is hashed, in vain. */
function wrongLogin(): string {
  const credentials = JSON.stringify({ email: EMAIL, password: "wrong password" });
  const login = `POST /auth/login HTTP/1.1\r\nHost: x\r\n${JSON_TYPE}\r\nContent-Length: ${credentials.length}\r\n\r\n`;
  return login + credentials;
}

const HEALTH = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";

test("what is sent behind a logout or a login on the same connection finds it done", async () => {
  const ask = (line: string, token: string) => `${line} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n`;
  const meWith = (token: string, ...lines: string[]) => `${ask("GET /auth/me", token)}${lines.join("")}\r\n`;
  const credentials = JSON.stringify({ email: EMAIL, password: PASSWORD });
  const login = `POST /auth/login HTTP/1.1\r\nHost: x\r\n${JSON_TYPE}\r\nContent-Length: ${credentials.length}\r\n\r\n${credentials}`;
  const last = "Connection: close\r\n";
  for (let round = 0; round < 10; round++) {
    const token = await logIn(server);
    const out = await sendRaw(
      server.port,
      `${meWith(token)}${ask("POST /auth/logout", token)}\r\n${meWith(token)}${meWith(token, last)}`,
    );
    assert.deepEqual(statusesIn(out.text), [200, 200, 401, 401]);
    const earlier = await logIn(server);
    assert.deepEqual(statusesIn((await sendRaw(server.port, login + meWith(earlier, last))).text), [200, 401]);
  }
});

test("what is no HTTP is answered behind the answers to the requests before it", async () => {
  const { text } = await sendRaw(server.port, `${whole("before-1")}${whole("before-2")}GARBAGE\r\n\r\n`);
  assert.deepEqual(statusesIn(text), [200, 200, 400]);
  assert.ok(text.indexOf("before-1") < text.indexOf("before-2"));
  const large = `GET /healthz HTTP/1.1\r\nHost: x\r\nX: ${"x".repeat(20_000)}\r\n\r\n`;
  assert.deepEqual(statusesIn((await sendRaw(server.port, whole("before-3") + large)).text), [200, 431]);
});

test("a request that turns out to be no HTTP in its body is answered behind the one before it", async () => {
  const head = `POST /webhook HTTP/1.1\r\nHost: x\r\n${JSON_TYPE}\r\nTransfer-Encoding: chunked\r\n\r\n`;
  const { text } = await sendRaw(server.port, `${whole("before-chunk")}${head}ZZ\r\n`);
  assert.deepEqual(statusesIn(text), [200, 400]);
});

test("a connection that goes on sending what is no HTTP is answered once", async () => {
  const socket = await open();
  const received = gather(socket);
  const closed = once(socket, "close");
  socket.write(whole("before-many"));
  for (let i = 0; i < 50; i++) {
    socket.write("@");
    await new Promise((resolve) => setImmediate(resolve));
  }
  await closed;
  assert.deepEqual(statusesIn(received()), [200, 400]);
  assert.equal(server.stderr(), "");
});

test("CONNECT is answered 404, in its turn, and whoever resets the connection then harms nobody", async () => {
  const ask404 = "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n";
  const { status, headers } = await sendRaw(server.port, ask404);
  assert.equal(status, 404);
  assert.ok(headers["x-request-id"]);
  assert.deepEqual(statusesIn((await sendRaw(server.port, whole("before-connect") + ask404)).text), [200, 404]);
  for (let i = 0; i < 10; i++) {
    const socket = await open();
    socket.write(ask404);
    if (i % 2 === 0) await once(socket, "data");
    socket.resetAndDestroy();
    await once(socket, "close");
  }
  assert.equal((await ask(server, "/healthz")).status, 200);
});

test("a client that has closed its own side gets its answers", async () => {
  const socket = connect({ port: server.port, host: "127.0.0.1", allowHalfOpen: true });
  const received = gather(socket);
  const closed = once(socket, "end");
  socket.end(whole("half-closed"));
  await closed;
  socket.destroy();
  assert.deepEqual(statusesIn(received()), [200]);
});

test("what lies behind a login under way, and is no HTTP, is answered to a client that has closed its own side", async () => {
  for (const [behind, status] of [
    ["FOO /healthz HTTP/1.1\r\nHost: x\r\n\r\n", 405],
    ["\0\0\0\r\n\r\n", 400],
    [`GET /healthz HTTP/1.1\r\nX: ${"x".repeat(17_000)}\r\n\r\n`, 431],
  ] as const) {
    const socket = connect({ port: server.port, host: "127.0.0.1", allowHalfOpen: true });
    const received = gather(socket);
    const closed = once(socket, "end");
    socket.end(wrongLogin() + behind);
    await closed;
    socket.destroy();
    assert.deepEqual(statusesIn(received()), [401, status]);
  }
});

test("a request for another protocol is answered in this one, as the last on its connection", async () => {
  for (const protocol of ["h2c", "websocket"]) {
    const asking = `Host: x\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n`;
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
    // The head of this POST is dropped with the rest of the packet: its body must not be taken for a request.
    const socket = await open();
    const received = gather(socket);
    const closed = once(socket, "close");
    socket.write(
      `${whole("before-upgrade")}${get}POST /webhook HTTP/1.1\r\nHost: x\r\nContent-Length: ${HEALTH.length}\r\n\r\n`,
    );
    socket.write(HEALTH);
    await closed;
    assert.deepEqual(statusesIn(received()), [200, 200]);
  }
});

test("a request for another protocol whose body is broken off is answered at once", async () => {
  const head = `POST /webhook HTTP/1.1\r\nHost: x\r\n${JSON_TYPE}\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 30\r\n\r\n`;
  const socket = connect({ port: server.port, host: "127.0.0.1", allowHalfOpen: true });
  const received = gather(socket);
  const closed = once(socket, "end");
  socket.end(`${head}{`);
  await closed;
  socket.destroy();
  assert.deepEqual(statusesIn(received()), [400]);
});

test("what lies behind a request that closes its connection gets no answer", async () => {
  const last = HEALTH.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
  for (const behind of [HEALTH, "FOO / HTTP/1.1\r\n\r\n", "\0\0"]) {
    assert.deepEqual(statusesIn((await sendRaw(server.port, last + behind)).text), [200]);
  }
});

test("a sender that waits for a word before the body gets it only when the body is wanted", async () => {
  const refused = [
    ["POST /auth/login HTTP/1.1", JSON_TYPE, "Content-Length: 20000"],
    ["POST /auth/login HTTP/1.1", "Content-Type: text/plain", "Content-Length: 2"],
    ["POST /nothing-here HTTP/1.1", JSON_TYPE, "Content-Length: 2"],
  ];
  const answers = await Promise.all(
    refused.map(async (lines) => {
      const head = [...lines, "Host: localhost", "Expect: 100-continue"].join("\r\n");
      return statusesIn((await sendRaw(server.port, `${head}\r\n\r\n`)).text);
    }),
  );
  assert.deepEqual(answers, [[413], [415], [404]]);

  const { head, body } = delivery("invited", "Expect: 100-continue", "Connection: close");
  const socket = await open();
  const received = gather(socket);
  socket.write(head);
  await until(() => received().startsWith("HTTP/1.1 100"), 5000);
  socket.write(body);
  await once(socket, "close");
  assert.deepEqual(statusesIn(received()), [100, 200]);
});

test("a request may have a hundred headers, and no more", async () => {
  const asking = (count: number) => `Host: x\r\nConnection: close\r\n${"a: b\r\n".repeat(count - 2)}\r\n`;
  assert.equal((await sendRaw(server.port, `GET /healthz HTTP/1.1\r\n${asking(100)}`)).status, 200);
  const { status, body } = await sendRaw(server.port, `GET /healthz HTTP/1.1\r\n${asking(101)}`);
  assert.equal(status, 431);
  assert.match(body, /"code":"headers_too_large"/);
});

test("a hundred requests may wait for their answers on one connection, and more end it", async () => {
  const many = await sendRaw(
    server.port,
    `${HEALTH.repeat(99)}${HEALTH.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n")}`,
  );
  assert.deepEqual(statusesIn(many.text), Array(100).fill(200));
  const socket = await open();
  const closed = new Promise((resolve) => socket.on("close", resolve));
  socket.resume().write(HEALTH.repeat(2000));
  await closed;
  assert.equal((await ask(server, "/healthz")).status, 200);
});

for (const [method, path, type, length, status] of [
  ["POST", "/nothing-here", "application/json", 1000, 404],
  ["POST", "/auth/login", "text/plain", 1000, 415],
  ["POST", "/auth/login", "application/json", 20_000, 413],
  ["POST", "/auth/logout", "application/json", 1000, 401],
  ["PUT", "/auth/me", "application/json", 1000, 405],
  ["GET", "/healthz", "application/json", 1000, 200],
] as const) {
  test(`the answer ${status} to ${method} ${path} ends the connection when the body has not come yet, and else keeps it`, async () => {
    const head = `${method} ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\n\r\n`;
    const body = "x".repeat(length);
    const cut = await open();
    const received = gather(cut);
    const closed = once(cut, "close");
    cut.write(head + body.slice(0, 10));
    await until(() => received().includes("\r\n\r\n"), 5000);
    assert.match(received(), /^Connection: close\r$/m);
    const behind = `behind ${status} of ${path}`;
    cut.write(body.slice(10) + whole(behind));
    await closed;
    assert.deepEqual(statusesIn(received()), [status]);
    // Events are handled in their order: this one would be, after the one that must not be.
    await deliver(server, event(`after ${behind}`));
    const handled = () => server.log("event_received").map(({ eventId }) => eventId);
    await until(() => handled().includes(`after ${behind}`), 5000);
    assert.ok(!handled().includes(behind));

    const last = HEALTH.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
    const { text } = await sendRaw(server.port, head + body + last);
    assert.deepEqual(statusesIn(text), [status, 200]);
  });
}

for (const [method, path, headers, status] of [
  ["FOO", "/webhook", {}, 405],
  ["POST", "/webhook", { "X-Large": "x".repeat(17_000) }, 431],
  ["POST", "/webhook", { "Content-Type": "application/json" }, 413],
  ["POST", "/auth/login", { "Content-Type": "application/json" }, 413],
  ["POST", "/auth/login", { "Content-Type": "text/plain" }, 415],
  ["POST", "/nothing-here", { "Content-Type": "application/json" }, 404],
  // As Caddy does for a client that asked to wait.
  ["POST", "/webhook", { "Content-Type": "application/json", Expect: "100-continue" }, 413],
  ["POST", "/nothing-here", { "Content-Type": "application/json", Expect: "100-continue" }, 404],
] as const) {
  const asking = "Expect" in headers ? " and asked to wait" : "";
  test(`${status} reaches a client that sends 20 MB by ${method} to ${path} before it listens, and wants no other answer${asking}`, async () => {
    const head = Object.entries({ Host: "x", Connection: "close", "Content-Length": 20_000_000, ...headers });
    const lines = head.map(([name, value]) => `${name}: ${value}\r\n`).join("");
    const socket = (await open()).pause();
    const failures: Error[] = [];
    socket.on("error", (error) => failures.push(error));
    await new Promise((resolve) =>
      socket.write(`${method} ${path} HTTP/1.1\r\n${lines}\r\n${"x".repeat(20_000_000)}`, resolve),
    );
    const received = gather(socket);
    await once(socket.resume(), "close");
    assert.deepEqual(failures, []);
    assert.deepEqual(statusesIn(received()), [status]);
  });
}

test("a body that is refused waits for the answers before its own", async () => {
  const large = `POST /webhook HTTP/1.1\r\nHost: x\r\n${JSON_TYPE}\r\nConnection: close\r\nContent-Length: 20000000\r\n\r\n`;
  const { text } = await sendRaw(server.port, wrongLogin() + large + "x".repeat(20_000_000));
  assert.deepEqual(statusesIn(text), [401, 413]);
});

test("what breaks in its body is answered and logged under the caller's request id", async () => {
  const head = `POST /webhook HTTP/1.1\r\nHost: x\r\n${JSON_TYPE}\r\nX-Request-ID: broken-chunk\r\nTransfer-Encoding: chunked\r\n\r\n`;
  const { headers, text } = await sendRaw(server.port, `${head}ZZ\r\n`);
  assert.deepEqual(statusesIn(text), [400]);
  assert.equal(headers["x-request-id"], "broken-chunk");
  const lines = () => server.log("request_completed").filter(({ requestId }) => requestId === "broken-chunk");
  await until(() => lines().length === 1, 5000);
  assert.deepEqual(
    lines().map(({ status, code }) => [status, code]),
    [[400, "bad_request"]],
  );
});
