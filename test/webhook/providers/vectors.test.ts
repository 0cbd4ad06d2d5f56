import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { suite, test } from "node:test";
import { allProviders } from "../../../src/webhook/providers/index.ts";
import type { Verified } from "../../../src/webhook/signature/bound-scheme.ts";
import slugs from "../../fixtures/preset-slugs.json" with { type: "json" };
import ofPackages from "../../fixtures/provider-vectors.json" with { type: "json" };
import published from "../../fixtures/published-vectors.json" with { type: "json" };
import { providerNamed, type Vector, verdictOf, verify } from "../../helpers/providers.ts";

const PEM = {
  publicKeyEncoding: { format: "pem", type: "spki" },
  privateKeyEncoding: { format: "pem", type: "pkcs8" },
} as const;

/** One of each type. */
const OTHER_KEYS = [
  generateKeyPairSync("ed25519", PEM).publicKey,
  generateKeyPairSync("ec", { namedCurve: "prime256v1", ...PEM }).publicKey,
  generateKeyPairSync("rsa", { modulusLength: 2048, ...PEM }).publicKey,
];

const withOtherCredentials = ({ secret, ...vector }: Vector): Vector =>
  secret === undefined ? { ...vector, keys: OTHER_KEYS } : { ...vector, secret: `${secret}11` };

const hasTime = ({ scheme, claims }: Verified) =>
  scheme.type === "jwt"
    ? claims?.exp !== undefined || scheme.maxAgeSeconds !== undefined
    : "timestamp" in scheme && scheme.timestamp !== undefined;

for (const [what, vectors] of [
  ["published deliveries", published],
  ["deliveries that a provider's package signed or accepted", ofPackages],
] as const) {
  suite(what, () => {
    for (const [index, vector] of (vectors as readonly Vector[]).entries()) {
      test(`${vector.preset}, ${index}`, () => {
        const verified = verify(vector);
        assert.ok(typeof verified === "object", verified as string);
        assert.notEqual(verdictOf(withOtherCredentials(vector)), "genuine");
        const late = { ...vector, at: (vector.at ?? 0) + 30 * 86_400_000 };
        assert.equal(verdictOf(late), hasTime(verified) ? "timestamp_too_old" : "genuine");
      });
    }
  });
}

test("the evidence of a provider is the best that the vectors give", () => {
  const sources = Map.groupBy(published, ({ preset }) => preset);
  const packages = Map.groupBy(ofPackages, ({ preset }) => preset);
  for (const [slug, { evidence, aliasOf = slug }] of allProviders()) {
    const { kind, by } = evidence;
    const addresses = sources.get(aliasOf)?.map(({ source }) => source);
    const versions = packages.get(aliasOf)?.map(({ by }) => by);
    assert.equal(kind, addresses ? "published" : versions ? "sdk" : "self-signed", slug);
    if (kind !== "self-signed") assert.ok((addresses ?? versions)?.includes(by ?? ""), slug);
  }
});

test("most of the 111 providers that were asked for have evidence from elsewhere", () => {
  const count = (kind: string) => slugs.filter((slug) => providerNamed(slug).evidence.kind === kind).length;
  assert.ok(count("published") >= 20);
  assert.ok(count("sdk") >= 15);
});

test("at least 125 providers are known, and most of them have evidence from elsewhere", () => {
  const known = allProviders();
  const proven = known.filter(([, { evidence }]) => evidence.kind !== "self-signed");
  assert.ok(known.length >= 125);
  assert.ok(proven.length > known.length / 2);
});
