import assert from "node:assert/strict";
import { once } from "node:events";
import type { RequestListener } from "node:http";
import type { Socket } from "node:net";
import { suite, type TestContext, test } from "node:test";
import type { IdleLimits } from "../../src/http/server.ts";
import { connected } from "../helpers/http-server.ts";
import { gather, HEALTH, statusesIn } from "../helpers/raw-http.ts";
import { until } from "../helpers/until.ts";

const LONG_MS = 60_000;

const answerOk: RequestListener = (_, response) => void response.end("ok");

/** Resolves when a connection ends, with the time since `startedAt` in ms. */
async function endOf(socket: Socket, startedAt: number): Promise<number> {
  socket.resume();
  await once(socket, "close", { signal: AbortSignal.timeout(10_000) });
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
      const socket = await connectedWithin(t, isTls, { keepAliveTimeout: 400, timeout: LONG_MS });
      const received = gather(socket);
      socket.write(HEALTH);
      await until(() => received().endsWith("ok"));
      const ms = await endOf(socket, performance.now());
      assert.ok(ms > 380 && ms < 5000, `it ended after ${ms} ms`);
    });

    test("stays open while requests arrive within the idle time", async (t) => {
      const socket = await connectedWithin(t, isTls, { keepAliveTimeout: 400, timeout: LONG_MS });
      const received = gather(socket);
      const startedAt = performance.now();
      let asked = 0;
      while (performance.now() - startedAt < 1600) {
        socket.write(HEALTH);
        asked++;
        await until(() => statusesIn(received()).length === asked);
      }
      assert.ok(!socket.destroyed && !socket.readableEnded);
    });

    test("waits for a response longer than the idle time, up to its timeout", async (t) => {
      const socket = await connectedWithin(t, isTls, { keepAliveTimeout: 100, timeout: 700 }, () => {});
      const startedAt = performance.now();
      socket.write(HEALTH);
      const ms = await endOf(socket, startedAt);
      assert.ok(ms > 680 && ms < 5000, `it ended after ${ms} ms`);
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
