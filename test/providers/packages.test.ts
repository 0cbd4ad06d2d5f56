import assert from "node:assert/strict";
import { suite, test } from "node:test";
import ofPackages from "../fixtures/provider-vectors.json" with { type: "json" };
import { needs } from "../helpers/back-end.ts";
import { verdictOf } from "../helpers/providers.ts";
import { isAccepted, isInstalled, prove, type Vector, versionOf } from "./delivery.ts";
import { providers, titleOf } from "./providers.ts";

const needsPackages = () =>
  needs("the providers' own packages", isInstalled, "they are not installed (npm ci --prefix test/providers)");

suite("the providers' own packages", needsPackages(), () => {
  for (const provider of providers) {
    test(`${titleOf(provider)} agrees with ${provider.package}`, async () => {
      const { genuine, altered } = await prove(provider, Date.now());
      assert.equal(verdictOf(genuine), "genuine");
      assert.notEqual(verdictOf(altered), "genuine");
    });
  }
});

// Equality would be too much: a signature of ECDSA is another one each time.
suite("the fixture", needsPackages(), () => {
  test("has a delivery for each package", () => {
    assert.deepEqual(
      ofPackages.map(({ preset, by }) => `${preset} ${by}`),
      providers.map((provider) => `${provider.preset} ${versionOf(provider)}`),
    );
  });

  for (const [index, provider] of providers.entries()) {
    test(`has one for ${titleOf(provider)} that ${provider.package} accepts`, async () => {
      assert.ok(await isAccepted(provider, ofPackages[index] as Vector));
    });
  }
});
