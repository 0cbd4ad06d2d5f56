import assert from "node:assert/strict";
import { test } from "node:test";
import { authserve } from "../../helpers/command.ts";
import { workingDir } from "../../helpers/working-dir.ts";

test("sources presets NAME prints what makes a duplicate, why, and who says so", async () => {
  const { code, stdout } = await authserve(["sources", "presets", "plaid", "--json"], { dir: workingDir() });
  assert.equal(code, 0);
  const { name, dedupe } = JSON.parse(stdout);
  assert.deepEqual([name, dedupe.mode], ["plaid", "off"]);
  assert.match(dedupe.why, /same bytes each day/);
  assert.match(dedupe.source, /^https:/);
});

test("sources presets NAME prints facts with their source, and what nobody has published as unknown", async () => {
  const dir = workingDir();
  const { stdout } = await authserve(["sources", "presets", "github", "--json"], { dir });
  const { facts } = JSON.parse(stdout);
  assert.equal(facts.maxBodyBytes.is, 25 * 1024 * 1024);
  assert.match(facts.maxBodyBytes.source, /^https:/);
  assert.equal(facts.rotation, null);
  const text = await authserve(["sources", "presets", "github"], { dir });
  assert.match(text.stdout, /^maxBodyBytes {6}26214400; https:/m);
  assert.match(text.stdout, /^rotation {10}unknown$/m);
});

test("sources presets NAME says how a source gets what it has missed, and what for", async () => {
  const dir = workingDir();
  const catchUpOf = async (name: string) =>
    JSON.parse((await authserve(["sources", "presets", name, "--json"], { dir })).stdout).catchUp;
  assert.deepEqual(await catchUpOf("stripe"), {
    by: "storing what its API lists, signed by nobody",
    token: "a restricted key that may read events, and with hook also webhook endpoints",
    hook: "https://api.stripe.com/v1/webhook_endpoints/we_1",
    source: "https://docs.stripe.com/api/events/list",
  });
  assert.match((await catchUpOf("github")).by, /^asking it to deliver again$/);
  assert.match((await catchUpOf("clerk")).by, /, if it gives you a token as Svix does$/);
  assert.match((await catchUpOf("resend")).by, /^asking it yourself/);
  assert.equal(await catchUpOf("docker_hub"), null);
});

test("sources presets NAME says that a provider signs nothing", async () => {
  const { stdout } = await authserve(["sources", "presets", "docker_hub"], { dir: workingDir() });
  assert.match(stdout, /^note {14}It signs nothing\. Only the secret in the URL protects it\.$/m);
});

test("sources presets knows a preset by its other names", async () => {
  const dir = workingDir();
  const text = await authserve(["sources", "presets", "whatsapp"], { dir });
  assert.match(text.stdout, /^title {13}WhatsApp \(Meta\)$/m);
  assert.match(text.stdout, /^aliasOf {11}meta$/m);
  const { stdout } = await authserve(["sources", "presets", "--json"], { dir });
  const aliases = JSON.parse(stdout).filter(({ aliasOf }: { aliasOf: string | null }) => aliasOf !== null);
  assert.deepEqual(
    aliases.map(({ name, aliasOf }: { name: string; aliasOf: string }) => `${name} ${aliasOf}`),
    [
      "bitbucket_server bitbucket",
      "codeberg forgejo",
      "instagram meta",
      "messenger meta",
      "teams ms_teams",
      "whatsapp meta",
    ],
  );
});

test("sources presets refuses an unknown name with the nearest one", async () => {
  const { code, stdout, stderr } = await authserve(["sources", "presets", "shopfy"], { dir: workingDir() });
  assert.deepEqual([code, stdout], [2, ""]);
  assert.match(stderr, /There is no preset shopfy\n {2}hint: did you mean shopify\?/);
});
