import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { openStored } from "../../src/webhook/content/stored-content.ts";
import type { RouteCondition, Value } from "../../src/worker/conditions.ts";
import type { Route } from "../../src/worker/route.ts";
import { createRouting } from "../../src/worker/routing.ts";
import { route } from "../helpers/route.ts";

const json = (text: string) => ({ payload: Buffer.from(text), contentType: "application/json", headers: "{}" });

/** The condition that a member has one of some values. */
const has = (name: string, ...values: Value[]): RouteCondition => ({
  on: "member",
  name,
  tests: [{ op: "is", values }],
});

/** Whether a route takes an event. */
function takes(changes: Partial<Route>, type: string, payload: unknown = {}, source = "stripe"): boolean {
  const routing = createRouting([route(changes)], openStored);
  return routing.jobsOf({ source, type }, json(JSON.stringify(payload))).length > 0;
}

function keyOf(payload: string, orderBy = "data.customer"): string | null | undefined {
  return createRouting([route({ orderBy })], openStored).jobsOf({ source: "s", type: "t" }, json(payload))[0]
    ?.orderingKey;
}

suite("routing", () => {
  test("takes events of its sources", () => {
    assert.deepEqual(
      ["a", "b", "c"].map((source) => takes({ sources: ["a", "b"] }, "t", {}, source)),
      [true, true, false],
    );
  });

  test("takes types that match a glob and no excluded one, in any order", () => {
    for (const types of [
      ["invoice.*", "!invoice.draft"],
      ["!invoice.draft", "invoice.*"],
    ]) {
      assert.deepEqual(
        ["invoice.paid", "invoice.paid.late", "invoice.draft", "invoice", "x.invoice.paid"].map((type) =>
          takes({ types }, type),
        ),
        [true, true, false, false, false],
      );
    }
    assert.deepEqual(
      ["push", "ping"].map((type) => takes({ types: ["!ping"] }, type)),
      [true, false],
    );
    assert.equal(takes({ types: ["a?c"] }, "abc"), true);
    assert.equal(takes({ types: ["a.c"] }, "abc"), false, "a dot is a dot");
    assert.equal(takes({ types: ["[a](b)+"] }, "[a](b)+"), true, "no character but * and ? is special");
  });

  test("takes payloads that have one of the values at each path", () => {
    const when = [has("data.object.livemode", true), has("data.object.currency", "eur", "usd")];
    const payload = (object: object) => ({ data: { object } });
    assert.equal(takes({ when }, "t", payload({ livemode: true, currency: "usd" })), true);
    assert.equal(takes({ when }, "t", payload({ livemode: "true", currency: "usd" })), false, "a text is no boolean");
    assert.equal(takes({ when }, "t", payload({ livemode: true, currency: "gbp" })), false);
    assert.equal(takes({ when }, "t", payload({ livemode: true })), false);
    const routing = createRouting([route({ when })], openStored);
    assert.deepEqual(routing.jobsOf({ source: "s", type: "t" }, json("a=b")), [], "no JSON");
  });

  test("looks into the JSON in a form", () => {
    const routing = createRouting([route({ when: [has("ref", "main")], orderBy: "repo" })], openStored);
    const form = new URLSearchParams({ payload: '{"ref":"main","repo":"r"}' });
    const payload = {
      payload: Buffer.from(String(form)),
      contentType: "application/x-www-form-urlencoded",
      headers: "{}",
    };
    assert.deepEqual(routing.jobsOf({ source: "s", type: "t" }, payload), [
      { route: "default", delayMs: 0, orderingKey: "r" },
    ]);
  });

  test("gives an event to several routes, each with its own ordering key", () => {
    const routing = createRouting(
      [route({ name: "a", orderBy: "id" }), route({ name: "b" }), route({ name: "c", types: ["x"] })],
      openStored,
    );
    assert.deepEqual(routing.jobsOf({ source: "s", type: "t" }, json('{"id":7}')), [
      { route: "a", delayMs: 0, orderingKey: "7" },
      { route: "b", delayMs: 0, orderingKey: null },
    ]);
  });

  test("orders by a text, a number or a boolean, and not at all by anything else", () => {
    assert.equal(keyOf('{"data":{"customer":"cus_1"}}'), "cus_1");
    assert.equal(keyOf('{"data":{"customer":12}}'), "12");
    assert.equal(keyOf('{"data":{"customer":false}}'), "false");
    for (const payload of ['{"data":{"customer":null}}', '{"data":{"customer":{}}}', '{"data":{}}', "no JSON"]) {
      assert.equal(keyOf(payload), null, payload);
    }
  });

  test("keeps all digits of a number that a double would round", () => {
    assert.equal(keyOf('{"data":{"customer":9007199254740993}}'), "9007199254740993");
    assert.equal(keyOf('{"data":{"customer":-9.007199254740993e15}}'), "-9007199254740993");
    assert.equal(keyOf('{"data":{"customer":9007199254740993.0}}'), "9007199254740993");
    assert.equal(keyOf('{"data":{"customer":12345678901234567890e1000}}'), "0.1234567890123456789e1020");
    assert.notEqual(
      keyOf('{"data":{"customer":0.1234567890123456789}}'),
      keyOf('{"data":{"customer":0.12345678901234568}}'),
    );
  });

  test("shortens long keys, and removes what databases compare differently", () => {
    const long = keyOf(JSON.stringify({ data: { customer: "x".repeat(300) } }));
    assert.match(String(long), /^sha256:[0-9a-f]{64}$/);
    assert.equal(keyOf('{"data":{"customer":"a\\u0000\\ud800"}}'), "a\uFFFD\uFFFD");
  });

  test("reads payloads only for events that such a route may take", () => {
    const routing = createRouting([route({ types: ["paid"], orderBy: "id" }), route({ name: "log" })], openStored);
    assert.deepEqual(
      ["paid", "draft"].map((type) => routing.readsPayload({ source: "s", type })),
      [true, false],
    );
  });

  test("creates the job of an event whose payload cannot be read, without a key", () => {
    const routing = createRouting([route({ when: [has("a", 1)], orderBy: "b" })], openStored);
    assert.deepEqual(routing.jobsOf({ source: "s", type: "t" }, null), [
      { route: "default", delayMs: 0, orderingKey: null },
    ]);
  });
});
