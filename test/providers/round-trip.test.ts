import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { PRESETS } from "../../src/webhook/presets/index.ts";
import { needs } from "../helpers/back-end.ts";
import { type Server, startServer } from "../helpers/server.ts";
import { workingDir } from "../helpers/working-dir.ts";
import { isInstalled, prove, type Vector } from "./delivery.ts";
import { providers } from "./providers.ts";

const needsPackages = () =>
  needs("the providers' own packages", isInstalled, "they are not installed (npm ci --prefix test/providers)");

// The address of the deliveries is the same for all. Signatures that cover it are verified in packages.test.ts.
const coversAddress = (slug: string) =>
  PRESETS[slug]?.schemes.some(
    (scheme) => scheme.type === "hmac" && /\{(?:url|query)/.test(scheme.signed + scheme.optional),
  );

const chosen = providers.filter(({ preset }) => !coversAddress(preset));
const nameOf = (slug: string) => slug.replaceAll("_", "-");
const variableOf = (slug: string) => `SECRET_OF_${slug.toUpperCase()}`;

async function startWithSources(): Promise<Server> {
  const dir = workingDir();
  const lines = chosen.map(
    ({ preset }) => `  ${nameOf(preset)}: { preset: ${preset}, secrets: [env:${variableOf(preset)}] }\n`,
  );
  writeFileSync(join(dir, "authserve.yaml"), `sources:\n${lines.join("")}`);
  const env = Object.fromEntries(chosen.map(({ preset, secret }) => [variableOf(preset), secret]));
  return startServer({ dir, env });
}

suite("a server with a source for each provider", needsPackages(), async () => {
  const server = await startWithSources();
  after(() => server[Symbol.asyncDispose]());

  async function statusOf({ preset, method, headers, body }: Vector): Promise<number> {
    const url = `${server.url}/webhook/${nameOf(preset)}`;
    return (await fetch(url, { method, headers, body: Buffer.from(body, "base64") })).status;
  }

  test("has at least ten of them", () => assert.ok(chosen.length >= 10));

  for (const provider of chosen) {
    test(`takes what ${provider.package} signed or accepted for ${provider.preset}, and nothing else`, async () => {
      const { genuine, altered } = await prove(provider, Date.now());
      assert.equal(await statusOf(genuine), 200);
      assert.equal(await statusOf(altered), 403);
    });
  }
});
