import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { draftSource } from "../../../src/config/file/new-source.ts";
import { appendToMap } from "../../../src/config/file/yaml-document.ts";
import type { Provider } from "../../../src/webhook/provider.ts";
import { PROVIDER_NAMES, providerOf } from "../../../src/webhook/providers/index.ts";
import { workingDir } from "../../helpers/working-dir.ts";

const LINE = ["new: { preset: github }"];

suite("a line for the configuration file", () => {
  for (const [what, before, after] of [
    ["an empty file", "", "sources:\n  new: { preset: github }\n"],
    [
      "a file without sources",
      "routes:\n  - { name: a, log: {} }",
      "routes:\n  - { name: a, log: {} }\n\nsources:\n  new: { preset: github }\n",
    ],
    ["a key without a value", "sources:\nroutes: []\n", "sources:\n  new: { preset: github }\nroutes: []\n"],
    [
      "a map with comments",
      "# mine\nsources:\n    a: { preset: x } # first\n    # second\n    b:\n      preset: y\n      secrets:\n        - env:B\n\n# the routes\nroutes: []\n",
      "# mine\nsources:\n    a: { preset: x } # first\n    # second\n    b:\n      preset: y\n      secrets:\n        - env:B\n    new: { preset: github }\n\n# the routes\nroutes: []\n",
    ],
    [
      "a last line without an end",
      "sources:\n  a: { preset: x }",
      "sources:\n  a: { preset: x }\n  new: { preset: github }\n",
    ],
  ] as const) {
    test(`is added to ${what}, and nothing else changes`, () => {
      assert.equal(appendToMap(before, "sources", LINE), after);
    });
  }

  for (const text of [
    "sources: {}\n",
    "sources: { a: { preset: x } }\n",
    "{ sources: {} }\n",
    "sources: &a\n  b: [\n",
    "sources: 5\n",
  ]) {
    test(`is not added to ${JSON.stringify(text)}`, () => {
      assert.equal(appendToMap(text, "sources", LINE), null);
    });
  }
});

suite("a draft of a source", () => {
  const draft = (name: string, preset: string, text: string, values: Record<string, string> = {}, more = {}) => {
    const file = join(workingDir(), "authserve.yaml");
    writeFileSync(file, text);
    const environment = { CONFIG_FILE: file, A: "a secret of the source a, a long one", ...values };
    return draftSource({ name, preset, ...more }, providerOf(preset) as Provider, { file, environment });
  };

  test("has what the preset needs, and is right without the values", () => {
    const { lines, needs, faults } = draft("github", "github", "");
    assert.deepEqual(lines, ["github: { preset: github, secrets: [env:GITHUB_SECRET] }"]);
    assert.deepEqual(needs, [{ is: "secret", variable: "GITHUB_SECRET" }]);
    assert.deepEqual(faults, []);
    const { lines: paypal } = draft("paypal", "paypal", "");
    assert.match(String(paypal), /options: \{ webhookId: env:PAYPAL_WEBHOOK_ID \}/);
  });

  test("has no fault for any preset", () => {
    for (const name of PROVIDER_NAMES) {
      const { faults } = draft(name.replaceAll(/[^a-z0-9-]/g, "-"), name, "");
      assert.deepEqual(faults, [], name);
    }
  });

  test("tells what is wrong with the file, a value or the source", () => {
    assert.match(String(draft("github", "github", "routes: 5\n").faults), /routes/);
    assert.match(String(draft("shop", "svix", "", { SHOP_SECRET: "whsk_private" }).faults), /whose value is a key/);
    const known = "sources:\n  a: { preset: github, path: /webhook/b, secrets: [env:A] }\n";
    assert.match(String(draft("b", "github", known).faults), /path/);
    assert.match(String(draft("c", "github", "", {}, { expectEvery: "soon" }).faults), /expectEvery/);
  });
});
