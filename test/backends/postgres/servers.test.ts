import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { startClock } from "../../../src/postgres/clock.ts";
import { storesOn } from "../../../src/postgres/stores.ts";
import { openStored } from "../../../src/webhook/content/stored-content.ts";
import { createWorker } from "../../../src/worker/worker.ts";
import { needsPostgres } from "../../helpers/back-end.ts";
import { newEvent } from "../../helpers/events.ts";
import { recordingLog } from "../../helpers/log.ts";
import { openPostgres, reusedPostgres } from "../../helpers/postgres.ts";
import { handlerOf, route } from "../../helpers/route.ts";
import { until } from "../../helpers/until.ts";

const SERVERS = 3;
const KEYS = 6;
const EVENTS_PER_KEY = 60;

suite("several servers on one PostgreSQL database", needsPostgres(), () => {
  test("process each event once and each key in order, one at a time, whoever received it", async (t) => {
    const { url } = await reusedPostgres(t);
    const stores = await Promise.all(
      Array.from({ length: SERVERS }, async () => {
        const postgres = openPostgres(t, url);
        return storesOn(postgres, await startClock(postgres));
      }),
    );
    const { log, named } = recordingLog();
    const running = new Set<string>();
    const overlaps: string[] = [];
    const done = new Map<string, number[]>();
    const by = new Map<string, number>();

    for (const [server, { events, now }] of stores.entries()) {
      const worker = createWorker({
        store: events,
        openPayload: openStored,
        pollIntervalMs: 20,
        owner: `server ${server}`,
        log,
        now,
      });
      const handler = handlerOf(async ({ eventId }) => {
        const [key = "", number] = eventId.split(":");
        if (running.has(key)) overlaps.push(eventId);
        running.add(key);
        await delay(Math.random() * 3);
        running.delete(key);
        done.set(key, [...(done.get(key) ?? []), Number(number)]);
        by.set(`${server}`, (by.get(`${server}`) ?? 0) + 1);
      });
      worker.applyRoutes([route({ orderBy: "key", concurrency: 8 })], () => handler);
      events.onWork(worker.notify);
      t.after(() => worker.stop(1000));
      worker.start();
    }

    // As senders do: the next event of a key is sent when the one before it is acknowledged, to any server.
    await Promise.all(
      Array.from({ length: KEYS }, async (_, key) => {
        for (let number = 0; number < EVENTS_PER_KEY; number++) {
          const event = newEvent({
            eventId: `${key}:${number}`,
            payload: Buffer.from(JSON.stringify({ key: `${key}` })),
            receivedAt: Date.now(),
          });
          await stores[Math.floor(Math.random() * SERVERS)]?.events.append([event]);
        }
      }),
    );
    await until(async () => (await stores[0]?.events.backlog())?.processed === KEYS * EVENTS_PER_KEY);
    assert.deepEqual(overlaps, []);
    for (const [key, numbers] of done) {
      assert.deepEqual(
        numbers,
        Array.from({ length: EVENTS_PER_KEY }, (_, number) => number),
        `the order of ${key}`,
      );
    }
    assert.equal(done.size, KEYS);
    assert.equal(by.size, SERVERS, "a server had nothing to do");
    assert.deepEqual(named("worker_error"), []);
  });
});
