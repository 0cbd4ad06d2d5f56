import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { suite, type TestContext, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { EventStore } from "../../src/events/store.ts";
import type { EventHandler } from "../../src/worker/handler.ts";
import { createHttpHandler } from "../../src/worker/handlers/http.ts";
import type { WorkerOptions } from "../../src/worker/worker.ts";
import { newEvent } from "../helpers/events.ts";
import { until } from "../helpers/until.ts";
import { openWorker } from "./open-worker.ts";

const CONCURRENCY = 3;
const LONG_AGO = Date.now() - 24 * 3_600_000;

/** Runs a worker over `count` events. Returns its claims with their limits, and how many handlers ran at once. */
async function runWorker(t: TestContext, count: number, handler: EventHandler, changes: Partial<WorkerOptions> = {}) {
  const claims: { at: number; limit: number }[] = [];
  let running = 0;
  let mostRunning = 0;
  let done = 0;
  const counted: EventHandler = async (event, ...rest) => {
    mostRunning = Math.max(mostRunning, ++running);
    await handler(event, ...rest).finally(() => running--);
    done++;
  };
  const { worker, events } = openWorker(t, counted, (store) => {
    const claim: EventStore["claim"] = (request) => {
      claims.push({ at: Date.now(), limit: request.limit });
      return store.claim(request);
    };
    return { store: { ...store, claim }, concurrency: CONCURRENCY, ...changes };
  });
  await events.append(Array.from({ length: count }, (_, n) => newEvent({ eventId: `e${n}`, receivedAt: LONG_AGO })));
  worker.start();
  await until(() => done === count);
  await worker.stop(1000);
  const { processed } = await events.backlog();
  return { claims, mostRunning, processed, mostAsked: Math.max(...claims.map(({ limit }) => limit)) };
}

suite("the worker", () => {
  test("claims ahead of quick handlers, but never exceeds its concurrency", async (t) => {
    const { mostAsked, mostRunning, processed } = await runWorker(t, 400, () => Promise.resolve());
    assert.ok(mostAsked > CONCURRENCY && mostAsked <= 26 * CONCURRENCY, `asked for ${mostAsked}`);
    assert.ok(mostRunning <= CONCURRENCY);
    assert.equal(processed, 400);
  });

  test("claims no more than its concurrency if handlers are slow", async (t) => {
    const { mostAsked, processed } = await runWorker(t, 12, () => delay(30));
    assert.equal(mostAsked, CONCURRENCY);
    assert.equal(processed, 12);
  });

  test("claims at most 64 times its concurrency while settles are slow", async (t) => {
    const gate = Promise.withResolvers<void>();
    let runs = 0;
    const { worker, append, events } = openWorker(
      t,
      async () => void runs++,
      (events) => ({ store: { ...events, settle: (batch) => gate.promise.then(() => events.settle(batch)) } }),
    );
    await append(...Array.from({ length: 400 }, (_, index) => `e${index}`));
    worker.start();
    await until(() => runs >= 192);
    // A worker without a limit would claim more in these turns.
    for (let turn = 0; turn < 200; turn++) await new Promise(setImmediate);
    assert.equal(runs, 192);
    gate.resolve();
    await until(async () => (await events.backlog()).processed === 400);
  });

  test("continues when the clock is set back", async (t) => {
    let behind = 0;
    const { processed } = await runWorker(
      t,
      60,
      async () => {
        behind = 3_600_000;
      },
      {
        mustYield: () => true,
        now: () => Date.now() - behind,
      },
    );
    assert.equal(processed, 60);
  });

  test("pauses between claims and claims nothing ahead while it yields, then speeds up again", async (t) => {
    let asked = 0;
    const { claims, mostAsked, processed } = await runWorker(t, 120, () => Promise.resolve(), {
      mustYield: () => asked++ < 20,
    });
    const pauses = claims.slice(1, 4).map(({ at }, index) => at - (claims[index]?.at ?? 0));
    assert.ok(
      pauses.every((ms) => ms >= 79),
      pauses.join(),
    );
    assert.ok(claims.slice(0, 4).every(({ limit }) => limit <= CONCURRENCY));
    assert.ok(mostAsked > CONCURRENCY);
    assert.equal(processed, 120);
  });

  test("never has more open requests than its concurrency, even if bodies arrive after their heads", async (t) => {
    let open = 0;
    let mostOpen = 0;
    const target = createServer((request, response) => {
      mostOpen = Math.max(mostOpen, ++open);
      request.resume();
      response.on("close", () => open--);
      response.writeHead(200).flushHeaders();
      setTimeout(() => response.end("done"), 50);
    });
    t.after(() => {
      target.close();
      target.closeAllConnections();
    });
    target.listen(0, "127.0.0.1");
    await once(target, "listening");
    const { run } = createHttpHandler({
      url: `http://127.0.0.1:${(target.address() as AddressInfo).port}/`,
      key: null,
    });
    const { processed } = await runWorker(t, 30, run);
    assert.equal(mostOpen, CONCURRENCY);
    assert.equal(processed, 30);
  });
});
