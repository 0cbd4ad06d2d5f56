import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { suite, type TestContext, test } from "node:test";
import { connected } from "../helpers/http-server.ts";
import { gather, HEALTH, statusesIn } from "../helpers/raw-http.ts";
import { never, until } from "../helpers/until.ts";

const REQUESTS = 96;
const LARGE = `GET / HTTP/1.1\r\nHost: x\r\n${`a: ${"x".repeat(3000)}\r\n`.repeat(5)}\r\n`;
const WITH_BODY = `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody`;
// Two requests, and those that arrived in the same read as the second one.
const MOST_RECEIVED = 2 + Math.ceil(65_536 / LARGE.length);

/** A client of a server that keeps its requests unanswered. */
async function open(t: TestContext, isTls: boolean): Promise<{ socket: Socket; waiting: ServerResponse[] }> {
  const waiting: ServerResponse[] = [];
  const socket = await connected(t, isTls, (request, response) => {
    request.resume();
    waiting.push(response);
  });
  return { socket, waiting };
}

/** Answers waiting requests until the client has this many responses. */
async function answerAll(count: number, waiting: ServerResponse[], received: () => string): Promise<void> {
  await until(() => {
    for (const response of waiting.splice(0)) response.end("ok");
    return statusesIn(received()).length === count;
  });
}

for (const isTls of [false, true]) {
  suite(`a client of ${isTls ? "HTTPS" : "HTTP"} that does not wait for answers`, () => {
    test("is not read while eight of its requests wait", async (t) => {
      const { socket, waiting } = await open(t, isTls);
      const received = gather(socket);
      for (let n = 1; n <= 9; n++) {
        socket.write(HEALTH);
        await until(() => waiting.length === n);
      }
      socket.write(HEALTH);
      await never(() => waiting.length > 9, 300);
      await answerAll(10, waiting, received);
    });

    test("is not read while large headers wait", async (t) => {
      const { socket, waiting } = await open(t, isTls);
      const received = gather(socket);
      socket.write(LARGE.repeat(REQUESTS));
      await until(() => waiting.length >= 2);
      // What the client has sent stays in its own buffer and the system's.
      await never(() => waiting.length > MOST_RECEIVED, 300);
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
