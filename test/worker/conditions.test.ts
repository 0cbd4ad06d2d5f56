import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { openStored } from "../../src/webhook/content/stored-content.ts";
import { unmetOf } from "../../src/worker/conditions.ts";
import { routeIn } from "../helpers/config-file.ts";

interface Delivered {
  payload: string;
  contentType?: string;
  headers?: object;
}

/** The first condition of `when` in YAML that a delivery does not meet. */
function unmet(when: string, delivered: Delivered | string) {
  const {
    payload,
    contentType = "application/json",
    headers = {},
  } = typeof delivered === "string" ? { payload: delivered } : delivered;
  const stored = { payload: Buffer.from(payload), contentType, headers: JSON.stringify(headers) };
  return unmetOf(routeIn(`{ name: a, log: {}, when: ${when} }`).when, openStored(stored));
}

const holds = (when: string, delivered: Delivered | string) => unmet(when, delivered) === null;

suite("a condition", () => {
  for (const [tests, values, others] of [
    ["{ eq: 5 }", ["5", "5.0", "0.5e1"], ['"5"', "6", "null"]],
    ["{ eq: null }", ["null"], ["0", '""', "false"]],
    ["{ ne: 5 }", ["6", '"5"', "null", "[5]"], ["5", "5.00"]],
    ["{ gt: 5 }", ["5.1", "6", '"6"'], ["5", "-6", "true", '"six"', "[6]", "null"]],
    ["{ gte: 1000, lt: 5000 }", ["1000", "4999.99"], ["999.99", "5000"]],
    ["{ lte: 0.3 }", ["0.3", "-1"], ["0.30000000000000004"]],
    ["{ in: [eur, 7, null] }", ['"eur"', "7", "null"], ['"usd"', '"7"']],
    ["{ startsWith: in_ }", ['"in_1"'], ['"IN_1"', "1", '["in_1"]']],
    ["{ endsWith: .pdf }", ['"a.pdf"'], ['"a.pdfx"']],
    ["{ contains: main }", ['"refs/heads/main"', '["dev","main"]'], ['["maintain"]', "{}"]],
    ["{ contains: 2 }", ["[1,2]"], ["12", '"12"']],
    ["{ exists: true }", ["0", "null", "{}"], []],
    ["{ exists: false }", [], ["0", "null", "{}"]],
    ["{ not: { startsWith: x } }", ['"y"', "1"], ['"x1"']],
    ["{ not: [eur, usd] }", ['"gbp"'], ['"eur"']],
    ["{ not: { gte: 1, lte: 3 } }", ["0", "4"], ["2"]],
  ] as const) {
    test(`${tests} takes ${values.join(", ")} and not ${others.join(", ")}`, () => {
      for (const value of values) assert.equal(holds(`{ a: ${tests} }`, `{"a":${value}}`), true, value);
      for (const value of others) assert.equal(holds(`{ a: ${tests} }`, `{"a":${value}}`), false, value);
    });
  }

  test("on a member that is missing holds for exists: false alone", () => {
    const tests = [
      "{ eq: 1 }",
      "{ ne: 1 }",
      "{ gt: 1 }",
      "{ not: 1 }",
      "{ not: { exists: true } }",
      "{ contains: a }",
      "null",
    ];
    for (const one of tests) assert.equal(holds(`{ a.b: ${one} }`, '{"a":{}}'), false, one);
    assert.equal(holds("{ a.b: { exists: false } }", '{"a":{}}'), true);
    assert.equal(holds('{ "header:x-a": { ne: b } }', "{}"), false);
    assert.equal(holds("{ a: { exists: false } }", "no JSON"), true);
  });

  test("compares numbers beyond 2^53 by all of their digits", () => {
    assert.equal(holds("{ a: 9007199254740993 }", '{"a":9007199254740993}'), true);
    assert.equal(holds("{ a: 9007199254740993 }", '{"a":9007199254740992}'), false);
    assert.equal(holds("{ a: { gt: 9007199254740992 } }", '{"a":9007199254740993}'), true);
    assert.equal(holds("{ a: { gt: 9007199254740992 } }", '\uFEFF{"a":9007199254740993}'), true);
    assert.equal(holds("{ a: { lte: 9007199254740992 } }", '{"a":9007199254740993}'), false);
    assert.equal(
      holds("{ a: &big 9007199254740993, b: { eq: *big } }", '{"a":9007199254740993,"b":9007199254740994}'),
      false,
    );
    assert.equal(holds("{ a: { contains: 9007199254740993 } }", '{"a":[1,9007199254740993]}'), true);
    assert.equal(holds("{ a: { contains: 9007199254740993 } }", '{"a":[1,9007199254740992]}'), false);
    const lines = { payload: '{"a":1}\n{"a":9007199254740993}', contentType: "application/x-ndjson" };
    assert.equal(holds("{ 1.a: { gt: 9007199254740992 } }", lines), true);
  });

  test("compares times by value", () => {
    const at = (time: string) => JSON.stringify({ at: time });
    const noon = '{ at: { gte: "2026-01-31T12:00:00Z" } }';
    assert.equal(holds(noon, at("2026-01-31T13:30:00+01:30")), true);
    assert.equal(holds(noon, at("2026-01-31T13:29:59.999+01:30")), false);
    assert.equal(holds('{ at: { gt: "2026-01-31T12:00:00.123456Z" } }', at("2026-01-31T12:00:00.1234561Z")), true);
    assert.equal(holds('{ at: { gt: "2026-01-31" } }', at("2026-01-31T00:00:00.1")), true, "UTC is the default");
    assert.equal(holds('{ at: { eq: "2026-01-31T12:00:00Z" } }', at("2026-01-31T12:00:00.000+00:00")), true);
    assert.equal(holds('{ at: "2026-01-31T12:00:00Z" }', at("2026-01-31T12:00:00.000Z")), false, "text is text");
    assert.equal(holds(noon, at("tomorrow")), false);
  });

  test("reads times in all forms of ISO 8601 and RFC 3339 that programs write", () => {
    const equal = (one: string, other: string) => holds(`{ at: { eq: "${one}" } }`, JSON.stringify({ at: other }));
    // The form of PostgreSQL: https://www.postgresql.org/docs/current/datatype-datetime.html#DATATYPE-DATETIME-OUTPUT
    assert.equal(equal("2026-01-31T12:00:00.25Z", "2026-01-31 14:00:00.250+02"), true);
    assert.equal(equal("2026-01-31T12:00:00Z", "2026-01-31t12:00:00z"), true);
    assert.equal(equal("2026-01-31T12:00:00.5Z", "2026-01-31T12:00:00,50Z"), true);
    assert.equal(equal("2026-01-31T12:00:00Z", "20260131T120000Z"), true);
    assert.equal(equal("2017-01-01T00:00:00Z", "2016-12-31T23:59:60Z"), true, "a leap second");
    assert.equal(equal("2026-01-31", "20260131"), false, "eight digits are a number");
    assert.equal(equal("2026-01-31T12:00:00Z", "2026-0131T120000Z"), false);
    assert.equal(equal("2026-03-02", "2026-02-30"), false);
  });

  test("looks at headers by name in any case, and at the fields of a form", () => {
    const push = { payload: "{}", headers: { "x-github-event": "push" } };
    assert.equal(holds('{ "header:X-GitHub-Event": push }', push), true);
    assert.equal(holds('{ "header:x-github-event": { startsWith: pull } }', push), false);
    const form = { payload: "Amount=1200.50&Plan=pro", contentType: "application/x-www-form-urlencoded" };
    assert.equal(holds("{ Amount: { gte: 1000 }, Plan: pro }", form), true);
  });

  test("may have conditions of its own", () => {
    const when = "{ any: [ { data.plan: pro }, { data.trial: { exists: false }, data.on: true } ] }";
    assert.equal(holds(when, '{"data":{"plan":"pro","trial":1}}'), true);
    assert.equal(holds(when, '{"data":{"on":true}}'), true);
    assert.equal(holds(when, '{"data":{"trial":1,"on":true}}'), false);
    assert.equal(holds("{ not: { a: 1, b: 2 } }", '{"a":1,"b":3}'), true);
    assert.equal(holds("{ not: { a: 1, b: 2 } }", '{"a":1,"b":2}'), false);
    assert.equal(holds("{ all: [ { a: 1 }, { not: { any: [ { b: 1 }, { c: 1 } ] } } ] }", '{"a":1,"c":2}'), true);
  });

  test("named any, all or not with plain values is one on a member, as in earlier versions", () => {
    assert.equal(holds("{ any: x, all: [1, 2], not: true }", '{"any":"x","all":2,"not":true}'), true);
  });

  test("that does not hold says what it asks for and what was found", () => {
    assert.deepEqual(unmet("{ b: 1, a: { gte: 1000 } }", '{"a":5,"b":1}'), {
      condition: "a",
      expected: "gte 1000",
      found: "5",
    });
    assert.deepEqual(unmet("{ a: [eur, usd] }", '{"a":"gbp"}'), {
      condition: "a",
      expected: '"eur" or "usd"',
      found: '"gbp"',
    });
    assert.deepEqual(unmet('{ "header:x-a": { not: [1] } }', "{}"), {
      condition: "header:x-a",
      expected: "not 1",
      found: null,
    });
    assert.deepEqual(unmet("{ all: [ { any: [ { a: 1 } ] } ] }", "{}"), {
      condition: "any",
      expected: null,
      found: null,
    });
    assert.equal(unmet("{ a: { eq: 1 } }", '{"a":12345678901234567890}')?.found, "12345678901234567890");
    const long = unmet("{ a: 1 }", JSON.stringify({ a: "ä".repeat(500) }))?.found ?? "";
    assert.equal(long, `"${"ä".repeat(80)}…"`);
    assert.equal(unmet("{ a: 1 }", JSON.stringify({ a: { b: "x".repeat(500) } }))?.found?.length, 81);
    assert.equal(unmet("{ a: 1 }", '{"a":{"b":[1,{"ñ":null}],"c":{}}}')?.found, '{"b":[1,{"ñ":null}],"c":{}}');
  });

  test("is told of a value that is nested as deeply as is read", () => {
    const deep = `${"[".repeat(999)}1${"]".repeat(999)}`;
    assert.equal(unmet("{ a: 1 }", `{"a":${deep}}`)?.found, `${"[".repeat(80)}…`);
  });
});
