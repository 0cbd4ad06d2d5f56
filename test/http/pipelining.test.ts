import assert from "node:assert/strict";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { type AddressInfo, connect as connectPlain, type Socket } from "node:net";
import { suite, type TestContext, test } from "node:test";
import { connect as connectTls } from "node:tls";
import { AppError } from "../../src/errors.ts";
import { createHttpServer } from "../../src/http/server.ts";
import { createTlsFiles } from "../../src/http/tls.ts";
import { gather, HEALTH, statusesIn } from "../helpers/raw-http.ts";
import { pairNamed } from "../helpers/tls.ts";
import { until } from "../helpers/until.ts";

const REQUESTS = 96;
const LARGE = `GET / HTTP/1.1\r\nHost: x\r\n${`a: ${"x".repeat(3000)}\r\n`.repeat(5)}\r\n`;
const WITH_BODY = `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody`;
// Two, and those that came with the second of them in one read.
const MOST_RECEIVED = 2 + Math.ceil(65_536 / LARGE.length);

/** A server that keeps its requests unanswered, and a client of it. */
async function open(t: TestContext, isTls: boolean): Promise<{ socket: Socket; waiting: ServerResponse[] }> {
  const { cert, key } = pairNamed("first");
  const tls = isTls ? createTlsFiles(cert, key) : undefined;
  const waiting: ServerResponse[] = [];
  const listener = (request: { resume(): void }, response: ServerResponse) => {
    request.resume();
    waiting.push(response);
  };
  const server = createHttpServer(listener, { tls, refusal: () => new AppError("not_found") });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const socket = isTls ? connectTls({ port, rejectUnauthorized: false }) : connectPlain(port, "127.0.0.1");
  t.after(() => {
    socket.destroy();
    server.close();
  });
  await once(socket, isTls ? "secureConnect" : "connect");
  return { socket, waiting };
}

/** Answers what waits until as many answers have come. */
async function answerAll(count: number, waiting: ServerResponse[], received: () => string): Promise<void> {
  await until(() => {
    for (const response of waiting.splice(0)) response.end("ok");
    return statusesIn(received()).length === count;
  }, 10_000);
}

for (const isTls of [false, true]) {
  suite(`a client of ${isTls ? "HTTPS" : "HTTP"} that does not wait for answers`, () => {
    test("is read no further while eight of its requests wait", async (t) => {
      const { socket, waiting } = await open(t, isTls);
      const received = gather(socket);
      for (let n = 1; n <= 9; n++) {
        socket.write(HEALTH);
        await until(() => waiting.length === n, 5000);
      }
      socket.write(HEALTH);
      await assert.rejects(until(() => waiting.length > 9, 300));
      await answerAll(10, waiting, received);
    });

    test("is read no further while large headers wait", async (t) => {
      const { socket, waiting } = await open(t, isTls);
      const received = gather(socket);
      socket.write(LARGE.repeat(REQUESTS));
      await until(() => waiting.length >= 2, 5000);
      // What the client has sent lies in the system's buffers and in its own, and stays there.
      await assert.rejects(until(() => waiting.length > MOST_RECEIVED, 300));
      await answerAll(REQUESTS, waiting, received);
    });

    test("gets every answer when its requests have bodies", async (t) => {
      const { socket, waiting } = await open(t, isTls);
      const received = gather(socket);
      for (let n = 0; n < REQUESTS; n += 4) socket.write(WITH_BODY.repeat(4));
      await answerAll(REQUESTS, waiting, received);
    });
  });
}
