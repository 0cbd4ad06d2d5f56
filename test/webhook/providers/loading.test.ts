import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { basename, dirname } from "node:path";
import { test } from "node:test";
import { providerOf } from "../../../src/webhook/providers/index.ts";
import { sourceIn } from "../../helpers/config-file.ts";

/** The providers whose files are loaded. */
const loaded = () =>
  Object.keys(createRequire(import.meta.url).cache)
    .filter((file) => basename(dirname(file)) === "providers")
    .map((file) => basename(file, ".ts"));

/** The providers that are loaded by an action. */
function loadedBy(act: () => unknown): string[] {
  const before = loaded();
  act();
  return loaded().filter((name) => !before.includes(name));
}

test("a provider is loaded when it is first asked for, and no other", () => {
  assert.deepEqual(
    loadedBy(() => assert.equal(providerOf("stripe")?.title, "Stripe")),
    ["stripe"],
  );
  assert.deepEqual(
    loadedBy(() => providerOf("stripe")),
    [],
  );
});

test("a configuration file loads the providers that it names, and no other", () => {
  assert.deepEqual(
    loadedBy(() => sourceIn("{ preset: github, secrets: [env:SECRET] }")),
    ["github"],
  );
});

test("a name that is no provider's has none", () => {
  for (const name of ["constructor", "index", "../provider", "", null, undefined]) {
    assert.equal(providerOf(name), undefined);
  }
});
