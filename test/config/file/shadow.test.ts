import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { faults, read } from "../../helpers/config-file.ts";

const file = (...entries: string[]) => `routes:\n${entries.map((entry) => `  - ${entry}\n`).join("")}`;
const BILLING = "{ name: billing, to: http://h/, transform: { jsonata: a } }";

suite("a shadow in the configuration file", () => {
  test("is no route, and has its own target", () => {
    const shadow =
      "{ name: next, http: { url: http://next/, timeout: 3s }, shadow: { of: billing, ignore: [a.*.b] }, concurrency: 2 }";
    const { routes, shadows } = read(file(shadow, BILLING)) ?? {};
    assert.deepEqual(
      routes?.map(({ name }) => name),
      ["billing"],
    );
    assert.deepEqual(shadows, [
      {
        ...{ name: "next", of: "billing", ignore: ["a.*.b"], timeoutMs: 3000, concurrency: 2 },
        handler: { kind: "http", url: "http://next/", key: null },
        ...{ transform: null, ofTransform: true },
      },
    ]);
  });

  for (const [entry, ...expected] of [
    ["{ name: next, to: http://n/, shadow: billing }", 'found "billing", expected a map with of'],
    [
      "{ name: next, to: http://n/, shadow: { of: biling } }",
      'of: found "biling", expected the name of a route with http (did you mean billing?)',
    ],
    ["{ name: next, to: http://n/, shadow: { of: next } }", 'of: found "next", expected the name of a route with http'],
    [
      "{ name: next, log: {}, shadow: { of: billing } }",
      "log: found beside shadow, expected http, whose answers can be compared",
    ],
    [
      "{ name: next, to: http://n/, types: [a], retry: { attempts: 2 }, shadow: { of: billing } }",
      "types: found beside shadow, which gets the events of its route once each, expected one of them",
      "retry: found beside shadow, which gets the events of its route once each, expected one of them",
    ],
    [
      "{ name: billing, to: http://n/, shadow: { of: billing } }",
      'name: found "billing" a second time, after line 2, expected another name',
    ],
    [
      "{ name: next, to: http://n/, shadow: { of: billing, ignore: [] } }",
      "ignore: found an empty list, expected at least one path",
    ],
  ] as const) {
    test(`has a fault: ${entry}`, () => {
      const found = faults(file(BILLING, entry)).map((line) => line.replace(/^.*?routes\.1\.(?:shadow:? ?)?\.?/, ""));
      assert.deepEqual(found, expected);
    });
  }
});
