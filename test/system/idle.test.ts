import assert from "node:assert/strict";
import type { RequestListener } from "node:http";
import type { Socket } from "node:net";
import { suite, type TestContext, test } from "node:test";
import type { IdleLimits } from "../../src/http/server.ts";
import { connected } from "../helpers/http-server.ts";
import { gather, HEALTH, statusesIn } from "../helpers/raw-http.ts";
import { until } from "../helpers/until.ts";

const LONG_MS = 3_600_000;
const IDLE_MS = 400;
// Node's own, which a server without limits of its own has.
const DEFAULT_MS = 5000;

const answerOk: RequestListener = (_, response) => void response.end("ok");

/** Resolves when a connection has ended, with the time since `startedAt` in ms. */
async function endOf(socket: Socket, startedAt: number): Promise<number> {
  socket.resume();
  await until(() => socket.closed);
  return performance.now() - startedAt;
}

/** A client of a server with these limits. */
const connectedWithin = (t: TestContext, isTls: boolean, idleLimits: IdleLimits, listener = answerOk) =>
  connected(t, isTls, listener, { idleLimits });

for (const [name, isTls] of [
  ["HTTP", false],
  ["HTTPS", true],
] as const) {
  suite(`a connection of ${name}`, () => {
    test("ends after the idle time, not before", async (t) => {
      /** A connection that is idle after a response. */
      async function idle(keepAliveTimeout: number): Promise<{ socket: Socket; startedAt: number }> {
        const socket = await connectedWithin(t, isTls, { keepAliveTimeout, timeout: LONG_MS });
        const received = gather(socket);
        const startedAt = performance.now();
        socket.write(HEALTH);
        await until(() => received().endsWith("ok"));
        return { socket, startedAt };
      }

      // The one with the shorter time ends first. A machine that stands still may end both at once, so it is tried
      // again.
      await until(async () => {
        const [long, short] = [await idle(DEFAULT_MS), await idle(IDLE_MS)];
        const ms = await endOf(short.socket, short.startedAt);
        assert.ok(ms > 0.95 * IDLE_MS, `it ended after ${ms} ms`);
        const isFirst = !long.socket.closed;
        long.socket.destroy();
        return isFirst;
      });
    });

    test("stays open while requests arrive within the idle time", async (t) => {
      // A machine that stands still for the idle time sends no request within it, so it is tried again.
      await until(async () => {
        const socket = await connectedWithin(t, isTls, { keepAliveTimeout: IDLE_MS, timeout: LONG_MS });
        const received = gather(socket);
        const startedAt = performance.now();
        let [asked, lastAt, longestMs] = [0, startedAt, 0];
        while (performance.now() - startedAt < 4 * IDLE_MS && !socket.closed) {
          socket.write(HEALTH);
          asked++;
          await until(() => socket.closed || statusesIn(received()).length === asked);
          longestMs = Math.max(longestMs, performance.now() - lastAt);
          lastAt = performance.now();
        }
        const isOpen = !socket.closed && !socket.readableEnded;
        socket.destroy();
        assert.ok(isOpen || longestMs > 0.9 * IDLE_MS);
        return isOpen;
      });
    });

    test("waits for a response longer than the idle time, up to its timeout", async (t) => {
      const socket = await connectedWithin(t, isTls, { keepAliveTimeout: 100, timeout: 700 }, () => {});
      const startedAt = performance.now();
      socket.write(HEALTH);
      const ms = await endOf(socket, startedAt);
      assert.ok(ms > 680, `it ended after ${ms} ms`);
    });

    test("ends when its client does not read the response", async (t) => {
      const large = Buffer.alloc(64 * 1024 * 1024);
      let isOver = false;
      const socket = await connectedWithin(t, isTls, { keepAliveTimeout: 100, timeout: 400 }, (_, response) => {
        response.on("close", () => {
          isOver = true;
        });
        response.end(large);
      });
      socket.pause();
      socket.write(HEALTH);
      await until(() => isOver);
    });
  });
}
