import assert from "node:assert/strict";
import { once } from "node:events";
import { after, test } from "node:test";
import { deliver, event } from "../helpers/client.ts";
import {
  gather,
  HEALTH,
  JSON_TYPE,
  openRaw,
  rawDelivery,
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

test("a sender that waits for 100 Continue gets it only if the body will be read", async () => {
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

  const { head, body } = rawDelivery("invited", "Expect: 100-continue", "Connection: close");
  const socket = await openRaw(server.port);
  const received = gather(socket);
  socket.write(head);
  await until(() => received().startsWith("HTTP/1.1 100"));
  socket.write(body);
  await once(socket, "close");
  assert.deepEqual(statusesIn(received()), [100, 200]);
});

for (const [method, path, type, length, status] of [
  ["POST", "/nothing-here", "application/json", 1000, 404],
  ["POST", "/auth/login", "text/plain", 1000, 415],
  ["POST", "/auth/login", "application/json", 20_000, 413],
  ["POST", "/auth/logout", "application/json", 1000, 401],
  ["PUT", "/auth/me", "application/json", 1000, 405],
  ["GET", "/healthz", "application/json", 1000, 200],
] as const) {
  test(`${status} for ${method} ${path} closes the connection if the body has not arrived, else keeps it open`, async () => {
    const head = `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\n\r\n`;
    const body = "x".repeat(length);
    const cut = await openRaw(server.port);
    const received = gather(cut);
    const closed = once(cut, "close");
    cut.write(head + body.slice(0, 10));
    await until(() => received().includes("\r\n\r\n"));
    assert.match(received(), /^Connection: close\r$/m);
    const behind = `behind ${status} of ${path}`;
    cut.write(body.slice(10) + wholeDelivery(behind));
    await closed;
    assert.deepEqual(statusesIn(received()), [status]);
    // Events are handled in order. When this one is handled, the other one would have been before.
    await deliver(server, event(`after ${behind}`));
    const handled = () => server.log("event_received").map(({ eventId }) => eventId);
    await until(() => handled().includes(`after ${behind}`));
    assert.ok(!handled().includes(behind));

    const last = HEALTH.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
    const { text } = await sendRaw(server.port, head + body + last);
    assert.deepEqual(statusesIn(text), [status, 200]);
  });
}

for (const [method, path, headers, status] of [
  ["FOO", "/webhook", {}, 405],
  ["POST", "/webhook", { "X-Large": "x".repeat(17_000) }, 431],
  ["POST", "/webhook", { "Content-Type": "application/json", "X-Signature": PLAUSIBLE }, 413],
  ["POST", "/auth/login", { "Content-Type": "application/json" }, 413],
  ["POST", "/auth/login", { "Content-Type": "text/plain" }, 415],
  ["POST", "/nothing-here", { "Content-Type": "application/json" }, 404],
  // Caddy sends the body at once even if its client asked to wait.
  ["POST", "/webhook", { "Content-Type": "application/json", "X-Signature": PLAUSIBLE, Expect: "100-continue" }, 413],
  ["POST", "/nothing-here", { "Content-Type": "application/json", Expect: "100-continue" }, 404],
] as const) {
  const asking = "Expect" in headers ? ", with Expect" : "";
  test(`a client that sends 20 MB by ${method} to ${path} before it reads gets only ${status}${asking}`, async () => {
    const head = Object.entries({ Host: "localhost", Connection: "close", "Content-Length": 20_000_000, ...headers });
    const lines = head.map(([name, value]) => `${name}: ${value}\r\n`).join("");
    const socket = (await openRaw(server.port)).pause();
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

test("the response to a refused body waits for earlier responses", async () => {
  const large = `POST /webhook HTTP/1.1\r\nHost: localhost\r\n${JSON_TYPE}\r\nX-Signature: ${PLAUSIBLE}\r\nConnection: close\r\nContent-Length: 20000000\r\n\r\n`;
  const { text } = await sendRaw(server.port, rawLogin() + large + "x".repeat(20_000_000));
  assert.deepEqual(statusesIn(text), [401, 413]);
});
