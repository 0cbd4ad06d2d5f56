import assert from "node:assert/strict";
import { suite, test } from "node:test";
import ofPackages from "../fixtures/provider-vectors.json" with { type: "json" };
import { needs } from "../helpers/back-end.ts";
import { verdictOf } from "../helpers/presets.ts";
import { isInstalled, prove } from "./delivery.ts";
import { fixedVectors, providers } from "./providers.ts";

const needsPackages = () =>
  needs("the providers' own packages", isInstalled, "they are not installed (npm ci --prefix test/providers)");

suite("the providers' own packages", needsPackages(), () => {
  for (const provider of providers) {
    test(`${provider.preset} agrees with ${provider.package}`, async () => {
      const { genuine, altered } = await prove(provider, Date.now());
      assert.equal(verdictOf(genuine), "genuine");
      assert.notEqual(verdictOf(altered), "genuine");
    });
  }

  test("the fixture holds what the packages give", async () => {
    assert.deepEqual(await fixedVectors(), ofPackages);
  });
});
