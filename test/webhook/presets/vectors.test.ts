import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { evidenceOf } from "../../../src/webhook/presets/evidence.ts";
import { PRESETS } from "../../../src/webhook/presets/index.ts";
import slugs from "../../fixtures/preset-slugs.json" with { type: "json" };
import ofPackages from "../../fixtures/provider-vectors.json" with { type: "json" };
import published from "../../fixtures/published-vectors.json" with { type: "json" };
import { type Vector, verdictOf } from "../../helpers/presets.ts";

for (const [what, vectors] of [
  ["published deliveries", published],
  ["deliveries that a provider's package signed or accepted", ofPackages],
] as const) {
  suite(what, () => {
    for (const [index, vector] of (vectors as readonly Vector[]).entries()) {
      test(`${vector.preset}, ${index}`, () => {
        assert.equal(verdictOf(vector), "genuine");
        assert.notEqual(verdictOf({ ...vector, secret: `${vector.secret}00` }), "genuine");
        const late = { ...vector, at: (vector.at ?? 0) + 86_400_000 };
        const hasTime = PRESETS[vector.preset]?.schemes.some((scheme) => scheme.type === "hmac" && scheme.timestamp);
        assert.equal(verdictOf(late), hasTime ? "timestamp_too_old" : "genuine");
      });
    }
  });
}

test("the evidence of a preset is the best that the vectors give", () => {
  const sources = Map.groupBy(published, ({ preset }) => preset);
  const packages = new Map(ofPackages.map(({ preset, by }) => [preset, by]));
  for (const slug of Object.keys(PRESETS)) {
    const { kind, by } = evidenceOf(slug);
    const addresses = sources.get(slug)?.map(({ source }) => source);
    const best = addresses ? "published" : packages.has(slug) ? "sdk" : "self-signed";
    assert.equal(kind, best, slug);
    if (kind === "published") assert.ok(addresses?.includes(by ?? ""), slug);
    if (kind === "sdk") assert.equal(by, packages.get(slug), slug);
  }
});

test("most of the 111 presets that were asked for have evidence from elsewhere", () => {
  const count = (kind: string) => slugs.filter((slug) => evidenceOf(slug).kind === kind).length;
  assert.ok(count("published") >= 20);
  assert.ok(count("sdk") >= 15);
});
