import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { stringify } from "yaml";
import { needs } from "../helpers/back-end.ts";
import { EXECUTABLE, startProgram } from "../helpers/command.ts";
import { type Server, startServer } from "../helpers/server.ts";
import { startTarget } from "../helpers/target.ts";
import { until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";
import { isAccepted, isInstalled, type Provider, prove, type Vector } from "./delivery.ts";
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

/** Their packages verify what `listen` signs. */
const SIGNED_AGAIN = [
  "stripe",
  "github",
  "shopify",
  "slack",
  "svix",
  "twilio",
  "paddle",
  "square",
  "linear",
  "adyen",
  "zoom",
  "standard_webhooks",
  "box",
  "mercado_pago",
];

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

  for (const preset of SIGNED_AGAIN) {
    const provider = providers.find((one) => one.preset === preset && one.variant === undefined) as Provider;
    test(`lets listen sign events as ${preset} does, which ${provider.package} verifies`, async (t) => {
      const target = await startTarget();
      t.after(() => target[Symbol.asyncDispose]());
      const { genuine } = await prove(provider, Date.now(), `${server.url}/webhook/${nameOf(provider)}`);
      assert.ok([200, 204].includes(await statusOf(genuine)));
      const secretFile = join(server.dir, `${preset}.secret`);
      writeFileSync(secretFile, provider.secret ?? "");
      const listener = startProgram(
        EXECUTABLE,
        [
          ...["listen", "--forward", target.url, "--from-start", "--name", preset.replaceAll("_", "-")],
          ...["--source", nameOf(provider), "--sign-with", preset, "--secret-file", secretFile],
        ],
        { dir: server.dir, env: { ...server.env, XDG_STATE_HOME: server.dir } },
      );
      // Earlier tests have sent events too. Of Linear they may be too old: the time is in the body.
      const newest = () => target.received.find(({ body }) => body.toString("base64") === genuine.body);
      await until(() => newest() !== undefined);
      listener.child.kill("SIGTERM");
      assert.equal((await listener.exited).code, 0, listener.stderr());
      const { path, headers, body } = newest() as (typeof target.received)[number];
      const texts = Object.entries(headers).map(([name, value]) => [name, String(value)]);
      const vector = {
        ...genuine,
        url: new URL(path, target.url).href,
        headers: Object.fromEntries(texts),
        body: body.toString("base64"),
      };
      assert.ok(await isAccepted(provider, { ...vector, at: Date.now() }));
    });
  }
});
