import assert from "node:assert/strict";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { suite, type TestContext, test } from "node:test";
import { connected } from "../helpers/http-server.ts";
import { gather, HEALTH, openRaw, statusesIn } from "../helpers/raw-http.ts";
import { never, until } from "../helpers/until.ts";

const REQUESTS = 96;
const LARGE = `GET / HTTP/1.1\r\nHost: x\r\n${`a: ${"x".repeat(3000)}\r\n`.repeat(5)}\r\n`;
const WITH_BODY = `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody`;
// Two requests, and those that arrived in the same read as the second one.
const MOST_RECEIVED = 2 + Math.ceil(65_536 / LARGE.length);

/**
 * A client of a server that keeps its requests unanswered until `answerAll`, which resolves when the client has this
 * many answers. `running` counts those that wait for one, and `read` all that the server has read.
 */
async function open(t: TestContext, isTls: boolean) {
  const waiting: ServerResponse[] = [];
  let isAnswering = false;
  const socket = await connected(t, isTls, (request, response) => {
    request.resume();
    if (isAnswering) response.end("ok");
    else waiting.push(response);
  });
  const received = gather(socket);
  let count = 0;
  const counted = (message: unknown) => {
    const { request } = message as { request: IncomingMessage };
    if (request.socket.remotePort === socket.localPort) count++;
  };
  subscribe("http.server.request.start", counted);
  t.after(() => unsubscribe("http.server.request.start", counted));
  return {
    socket,
    running: () => waiting.length,
    read: () => count,
    answerAll(answers: number) {
      isAnswering = true;
      for (const response of waiting) response.end("ok");
      return until(() => statusesIn(received()).length === answers);
    },
  };
}

for (const isTls of [false, true]) {
  suite(`a client of ${isTls ? "HTTPS" : "HTTP"} that does not wait for answers`, () => {
    test("is not read while eight of its requests wait", async (t) => {
      const { socket, running, read, answerAll } = await open(t, isTls);
      for (let n = 1; n <= 9; n++) {
        socket.write(HEALTH);
        await until(() => read() === n);
      }
      socket.write(HEALTH);
      await never(() => read() > 9, 300);
      assert.equal(running(), 1, "one request runs at a time");
      await answerAll(10);
    });

    test("is not read while large headers wait", async (t) => {
      const { socket, read, answerAll } = await open(t, isTls);
      socket.write(LARGE.repeat(REQUESTS));
      await until(() => read() >= 2);
      // What the client has sent stays in its own buffer and the system's.
      await never(() => read() > MOST_RECEIVED, 300);
      await answerAll(REQUESTS);
    });

    test("gets every answer when its requests have bodies", async (t) => {
      const { socket, answerAll } = await open(t, isTls);
      for (let n = 0; n < REQUESTS; n += 4) socket.write(WITH_BODY.repeat(4));
      await answerAll(REQUESTS);
    });
  });
}

test("requests that wait on many connections of a client leave turns to another client", async (t) => {
  const clients: (string | undefined)[] = [];
  const first = await connected(t, false, (request, response) => {
    clients.push(request.socket.remoteAddress);
    response.end("ok");
  });
  const { remotePort: port = 0 } = first;
  const sockets: Socket[] = await Promise.all(Array.from({ length: 50 }, () => openRaw(port)));
  const other = await openRaw(port, "127.0.0.2");
  t.after(() => [...sockets, other].forEach((socket) => void socket.destroy()));
  const received = sockets.map(gather);
  for (const socket of sockets) socket.write(HEALTH.repeat(REQUESTS));
  await until(() => clients.length > sockets.length);
  other.write(HEALTH);
  await once(other, "data");
  // Only a part of the others' requests have run: their first ones, and a few in each turn.
  assert.ok(
    clients.length < (sockets.length * REQUESTS) / 2,
    `${clients.length} requests ran before the other client's`,
  );
  await until(() => received.every((text) => statusesIn(text()).length === REQUESTS));
});
