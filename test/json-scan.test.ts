import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { ARRAY, type Members, membersOf, OBJECT, type ScannedJson, scanJson } from "../src/json-scan.ts";

function scan(text: string, wanted?: Members): ScannedJson {
  const result = scanJson(Buffer.from(text, "utf8"), wanted);
  assert.ok(result.ok, text);
  return result.json;
}

suite("a scanned JSON text gives", () => {
  const wanted = membersOf(
    ...["id", "type", "n", "yes", "no", "nil", "list", "data", "", "i", "object"].map((name) => [name] as const),
    ...["object", "id", ""].map((name) => ["data", name] as const),
    ["list", "id"],
    ["id", "object"],
  );
  const text = ` {"id" : "evt_1", "n":-1.5e3, "yes":true, "no":false, "nil":null, "list":[1,{"id":"no"}],
    "\\u0074ype":"a\\"\\u00e9\u{1f600}\\\\", "data":{"object":{"id":"deep"},"id":"inner","":0}, "":"empty" } `;
  const json = scan(text, wanted);

  test("texts, decoded, under names written with or without escapes", () => {
    assert.equal(json.get("id"), "evt_1");
    assert.equal(json.get("type"), 'a"\u00e9\u{1f600}\\');
    assert.equal(json.get(""), "empty");
  });

  test("numbers and literals", () => {
    assert.deepEqual(
      ["n", "yes", "no", "nil"].map((name) => json.get(name)),
      [-1500, true, false, null],
    );
  });

  test("what stands for objects and arrays", () => {
    assert.equal(json.get("data"), OBJECT);
    assert.equal(json.get("list"), ARRAY);
    assert.equal(json.get("data", "object"), OBJECT);
  });

  test("a member's member, of that member only", () => {
    assert.equal(json.get("data", "id"), "inner");
    assert.equal(json.get("data", ""), 0);
    assert.equal(json.get("list", "id"), undefined);
    assert.equal(json.get("id", "object"), undefined);
    assert.equal(scan('{"a":{"x":1},"b":{"y":2}}', membersOf(["b", "x"])).get("b", "x"), undefined);
  });

  test("undefined for what is not there", () => {
    assert.equal(json.get("i"), undefined);
    assert.equal(json.get("object"), undefined);
    for (const text of ["[]", '"id"', "1", '[{"id":1}]']) assert.equal(scan(text, wanted).get("id"), undefined);
  });

  test("what a sub-view of a larger buffer holds", () => {
    const bytes = Buffer.from('xx{"a":"b"}yy').subarray(2, 11);
    const result = scanJson(bytes, membersOf(["a"]));
    assert.ok(result.ok);
    assert.equal(result.json.get("a"), "b");
  });

  test("nothing that was not wanted: to ask for it is a defect", () => {
    assert.throws(() => json.get("other"), /other/);
    assert.throws(() => json.get("data", "other"), /other/);
    assert.throws(() => json.get("other", "id"), /other/);
  });

  test("the same, however many texts have been scanned or given up meanwhile", () => {
    for (const broken of ['{"id":{"id":{"x":', `{"id":${"[".repeat(80)}`]) scanJson(Buffer.from(broken), wanted);
    assert.equal(scan('{"id":"other"}', wanted).get("id"), "other");
    assert.equal(json.get("id"), "evt_1");
  });
});

test("a name written twice is found among few and among many names, with and without escapes", () => {
  for (const count of [1, 2, 15, 16, 17, 40]) {
    const names = Array.from({ length: count }, (_, index) => `"name${index}":${index}`);
    assert.ok(scanJson(Buffer.from(`{${names}}`)).ok, `${count} names`);
    for (const again of ["name0", `name${count - 1}`, "\\u006eame0"]) {
      const result = scanJson(Buffer.from(`{${names},"${again}":0}`));
      assert.deepEqual(result, { ok: false, reason: "has a member name twice" }, `${count} names, ${again}`);
    }
  }
});

test("names of an object are not confused with those inside or beside it", () => {
  for (const text of [
    '{"a":{"a":{"a":1}}}',
    '{"a":[{"b":1},{"b":1}],"b":{"a":1}}',
    '{"x":{"a":1,"b":2},"a":1,"b":{"x":1}}',
    '{"ab":1,"a":2,"b":3,"abc":4}',
  ]) {
    scan(text);
  }
});

/** A generator of whole numbers below a bound, the same ones for the same seed (mulberry32). */
function seeded(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  };
}

test("100,000 texts made by chance are judged as JSON.parse judges them, doubled names aside", () => {
  const pieces = [
    ..."{}[]:,\"\\ \n\t0123456789-+.eE'a",
    '"a"',
    '"b":',
    '"',
    "true",
    "false",
    "null",
    "tru",
    "\\u0041",
    "\\ud83d",
    "\\n",
    "\\x",
    "\u0001",
    "\u007f",
    "é",
    "1e5",
    "-0",
    "01",
    "1.",
    '{"a":1}',
    "[1,2]",
    '{"a":{"b":[null]}}',
    '"c":"d",',
  ];
  const templates = [
    '{"a":1,"b":[true,null,{"c":"d"}],"e":-1.5e+3}',
    '[[],{},"\\u00e9",0.1]',
    '{"x":{"y":{"z":[1,2,3]}}}',
    "",
  ];
  const random = seeded(20261120);
  let accepted = 0;
  for (let round = 0; round < 100_000; round++) {
    let text = templates[random(templates.length)] as string;
    for (let change = random(5); change >= 0; change--) {
      const at = random(text.length + 1);
      text = text.slice(0, at) + pieces[random(pieces.length)] + text.slice(at + random(3));
    }
    let expected = true;
    try {
      JSON.parse(text);
    } catch {
      expected = false;
    }
    // Cutting a character in two leaves no UTF-8.
    if (!text.isWellFormed()) continue;
    const result = scanJson(Buffer.from(text));
    const judged = result.ok || result.reason === "has a member name twice";
    assert.equal(judged, expected, JSON.stringify(text));
    if (judged) accepted++;
  }
  assert.ok(accepted > 5000, `only ${accepted} were JSON`);
});

test("values read from 20,000 objects made by chance are those that JSON.parse gives", () => {
  const random = seeded(7);
  const names = ["id", "type", "object", "data", "created", "livemode", "é", 'q"', "\\", "a\nb"];
  const value = (depth: number): unknown => {
    switch (random(depth > 2 ? 5 : 7)) {
      case 0:
        return String.fromCodePoint(32 + random(500), 0x1f600 + random(50), random(32)).repeat(random(3));
      case 1:
        return (random(2_000_000) - 1_000_000) / (1 + random(1000));
      case 2:
        return random(2) === 0;
      case 3:
        return null;
      case 4:
        return `evt_${random(1000)}`;
      case 5:
        return Array.from({ length: random(4) }, () => value(depth + 1));
      default:
        return Object.fromEntries(
          Array.from({ length: random(6) }, () => [names[random(names.length)], value(depth + 1)]),
        );
    }
  };
  const asked = ["id", "type", "object", "data", "created"];
  const wanted = membersOf(...asked.map((name) => [name, "object"] as const));
  const seen = (found: unknown) =>
    Array.isArray(found) ? ARRAY : typeof found === "object" && found !== null ? OBJECT : found;
  for (let round = 0; round < 20_000; round++) {
    const built = Object.fromEntries(names.slice(random(10)).map((name) => [name, value(0)]));
    const text = JSON.stringify(built, null, random(3)).replaceAll("é", random(2) ? "\\u00e9" : "é");
    const json = scan(text, wanted);
    const expected = JSON.parse(text) as Record<string, Record<string, unknown>>;
    for (const name of asked) {
      assert.equal(json.get(name), seen(expected[name]), text);
      const inner = expected[name];
      const hasInner = seen(inner) === OBJECT && Object.hasOwn(inner as object, "object");
      assert.equal(json.get(name, "object"), hasInner ? seen(inner?.object) : undefined, text);
    }
  }
});
