import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { HistoryEvent, SentBody } from "../../src/events/store.ts";
import { jsonOf, openStored } from "../../src/webhook/content/stored-content.ts";
import { createBackTest, createTally } from "../../src/worker/back-test.ts";
import { compileExpression, type TransformInput } from "../../src/worker/transform/expression.ts";
import { routesIn } from "../helpers/config-file.ts";

const transformer = {
  run: ({ expression, ...input }: TransformInput & { expression: string }) => compileExpression(expression)(input),
  close: async () => {},
};

const text = (body: string): SentBody => ({ payload: Buffer.from(body), contentType: "text/plain; charset=utf-8" });

/** An event with an amount, and what was sent of it by route. */
function event(amount: number, jobs: Record<string, SentBody | null> = {}): HistoryEvent {
  return {
    id: amount,
    source: "shop",
    eventId: `evt_${amount}`,
    type: "paid",
    receivedAt: 0,
    payload: Buffer.from(`{"amount":${amount}}`),
    contentType: "application/json",
    headers: "{}",
    jobs: Object.entries(jobs).map(([route, body]) => ({ route, attempts: 1, body })),
  };
}

async function tried(routes: string, events: readonly HistoryEvent[]) {
  const tested = routesIn(routes);
  const tryRoutes = createBackTest(tested, { transformer, jsonOf, openPayload: openStored });
  const tally = createTally(tested);
  for (const one of events) tally.add(one, await tryRoutes(one));
  return tally.result;
}

suite("a back-test", () => {
  test("counts what routes take and how it differs from what was sent", async () => {
    const result = await tried(
      `
  - { name: big, when: { amount: { gte: 10 } }, log: {} }
  - { name: text, transform: { jsonata: "'paid ' & amount" }, log: {} }`,
      [
        event(5, { text: text("paid 5") }),
        event(6, { text: text("got 6"), big: null }),
        event(10, { text: null, big: null }),
        event(11, { text: text("paid 11") }),
      ],
    );
    const { samples, ...counts } = result;
    assert.deepEqual(counts, {
      matched: 4,
      unmatched: 0,
      changed: 3,
      routes: [
        { route: "big", matched: 2, unmatched: 2, changed: 2, failed: 0 },
        { route: "text", matched: 4, unmatched: 0, changed: 2, failed: 0 },
      ],
    });
    const changes = samples.map(({ eventId, route, change }) => [eventId, route, change]);
    assert.deepEqual(changes, [
      ["evt_5", "big", null],
      ["evt_5", "text", null],
      ["evt_6", "big", "left"],
      ["evt_6", "text", "body"],
      ["evt_10", "big", null],
      ["evt_10", "text", "body"],
      ["evt_11", "big", "taken"],
      ["evt_11", "text", null],
    ]);
    const [small] = samples;
    assert.deepEqual([small?.unmet, small?.expected, small?.found, small?.sends], ["when amount", "gte 10", "5", null]);
    const body = samples.find(({ change }) => change === "body");
    assert.deepEqual([body?.sent?.body, body?.sends?.body], ["got 6", "paid 6"]);
  });

  test("tells of expressions that fail, and of events that no route takes", async () => {
    const result = await tried(
      `
  - { name: sum, types: paid, when: { amount: { lt: 10 } }, transform: { jsonata: "amount + 'x'" }, log: {} }`,
      [event(5), event(10)],
    );
    assert.deepEqual([result.matched, result.unmatched, result.routes[0]?.failed], [1, 1, 1]);
    assert.match(result.samples[0]?.error ?? "", /^the expression failed .*T2002/);
  });

  test("keeps a few samples of each kind, and the beginnings of bodies", async () => {
    const long = { ...event(1), payload: Buffer.from(JSON.stringify("ñ".repeat(5000))) };
    const result = await tried("  - { name: a, log: {} }", [long, ...Array.from({ length: 20 }, (_, at) => event(at))]);
    assert.equal(result.samples.length, 3);
    assert.deepEqual([result.samples[0]?.sends?.body.length, result.samples[0]?.sends?.bytes], [1000, 10_002]);
  });
});
