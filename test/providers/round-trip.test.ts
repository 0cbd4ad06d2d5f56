import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { stringify } from "yaml";
import { needs } from "../helpers/back-end.ts";
import { type Server, startServer } from "../helpers/server.ts";
import { workingDir } from "../helpers/working-dir.ts";
import { isInstalled, type Provider, prove, type Vector } from "./delivery.ts";
import { providers, titleOf } from "./providers.ts";

const needsPackages = () =>
  needs("the providers' own packages", isInstalled, "they are not installed (npm ci --prefix test/providers)");

/** Unlike the preset, it is another one for each package. */
const nameOf = (provider: Provider) => `provider-${providers.indexOf(provider)}`;
const variableOf = (provider: Provider) => `SECRET_${providers.indexOf(provider)}`;

function sourceOf(provider: Provider): object {
  const { preset, keys, options } = provider;
  return {
    preset,
    ...(keys === undefined ? { secrets: [`env:${variableOf(provider)}`] } : { keys }),
    ...(options !== undefined && { options }),
  };
}

async function startWithSources(): Promise<Server> {
  const dir = workingDir();
  const sources = Object.fromEntries(providers.map((provider) => [nameOf(provider), sourceOf(provider)]));
  writeFileSync(join(dir, "authserve.yaml"), stringify({ sources }));
  const secrets = providers.flatMap((provider) =>
    provider.secret === undefined ? [] : [[variableOf(provider), provider.secret]],
  );
  return startServer({ dir, env: Object.fromEntries(secrets) });
}

suite("a server with a source for each provider", needsPackages(), async () => {
  const server = await startWithSources();
  after(() => server[Symbol.asyncDispose]());

  async function statusOf({ url, method, headers, body }: Vector): Promise<number> {
    return (await fetch(url, { method, headers, body: Buffer.from(body, "base64") })).status;
  }

  for (const provider of providers) {
    test(`takes what ${provider.package} signed or accepted for ${titleOf(provider)}, and nothing else`, async () => {
      const url = `${server.url}/webhook/${nameOf(provider)}?tenant=7&note=a%20b`;
      const { genuine, altered } = await prove(provider, Date.now(), url);
      assert.ok([200, 204].includes(await statusOf(genuine)));
      assert.ok([401, 403].includes(await statusOf(altered)));
    });
  }
});
