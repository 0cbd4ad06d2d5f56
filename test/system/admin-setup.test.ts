import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { APP_CODE } from "../../src/admin/page/setup/app-code.ts";
import { ask, assertProblem, logIn } from "../helpers/client.ts";
import { WEBHOOK_SECRET } from "../helpers/credentials.ts";
import { freePort } from "../helpers/ports.ts";
import { type Server, startServer } from "../helpers/server.ts";
import { until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";

const FILE =
  "# of the shop\nsources:\n  # the old one\n  shop: { preset: shopify, secrets: [env:SHOP_SECRET] } # keep\n";
const SECRET = "0123456789abcdef0123456789abcdef";

async function start(t: { after(run: () => unknown): void }, env: Record<string, string> = {}) {
  const dir = workingDir();
  writeFileSync(join(dir, "authserve.yaml"), FILE);
  const server = await startServer({ dir, env: { SHOP_SECRET: "a secret of the shop, a long one", ...env } });
  t.after(() => server[Symbol.asyncDispose]());
  const token = await logIn(server);
  const post = (path: string, body: unknown) =>
    ask(server, `/admin/api/${path}`, {
      method: "POST",
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
  const sources = async () =>
    (await ask(server, "/admin/api/sources", { headers: { Authorization: `Bearer ${token}` } })).json.items as {
      name: string;
    }[];
  return { server, dir, post, sources };
}

suite("the admin API, to set sources up", () => {
  test("shows the secret of a source until its first delivery, which may be a sample", async (t) => {
    const { server, post } = await start(t);
    const shown = await post("sources/secret", { source: "default" });
    assert.deepEqual(shown.json, { name: "env:WEBHOOK_SECRET", value: WEBHOOK_SECRET });
    assert.equal((await server.logged("secret_shown")).source, "default");
    for (const source of ["default", "shop"]) {
      const { json } = await post("sources/send", { source });
      assert.equal(json.status, 200, String(json.answer));
      const { stdout } = await server.run(["events", "show", String(json.eventId), "--source", source, "--json"]);
      assert.equal(JSON.parse(stdout).source, source);
    }
    await until(async () => (await post("sources/secret", { source: "default" })).status === 400);
    assertProblem(await post("sources/send", { source: "none" }), 400, "validation_failed");
  });

  test("makes checked lines for a source, and writes nothing", async (t) => {
    const { dir, post } = await start(t);
    const { json } = await post("sources/draft", { name: "github", preset: "github" });
    assert.deepEqual(json.lines, ["github: { preset: github, secrets: [env:GITHUB_SECRET] }"]);
    assert.match(String(json.url), /^http:\/\/127\.0\.0\.1:\d+\/webhook\/github$/);
    assert.deepEqual(json.faults, []);
    const taken = await post("sources/draft", { name: "shop", preset: "github" });
    assert.match(String(taken.json.faults), /shop.*second time/);
    const withSecret = { name: "github", preset: "github", values: { secret: SECRET } };
    assertProblem(await post("sources/draft", withSecret), 400, "validation_failed");
    assertProblem(await post("sources/add", { name: "github", preset: "github" }), 404, "not_found");
    assert.equal(readFileSync(join(dir, "authserve.yaml"), "utf8"), FILE);
  });

  test("has an app that verifies events, as the page shows it", async (t) => {
    const dir = workingDir();
    writeFileSync(join(dir, "app.mjs"), APP_CODE);
    const port = String(await freePort());
    const app = spawn(process.execPath, ["app.mjs"], {
      cwd: dir,
      env: { FORWARD_SECRET: SECRET, PORT: port },
      stdio: ["ignore", "pipe", "inherit"],
    });
    t.after(() => app.kill());
    let printed = "";
    app.stdout.on("data", (chunk) => {
      printed += chunk;
    });
    const url = `http://127.0.0.1:${port}/events`;
    await until(() =>
      fetch(url, { method: "POST", body: "{}" }).then(
        ({ status }) => status === 401,
        () => false,
      ),
    );
    await using server: Server = await startServer({ env: { FORWARD_URL: url, FORWARD_SECRET: SECRET } });
    assert.equal((await server.run(["send"])).code, 0);
    await until(async () => printed.includes("evt_"));
    app.kill();
    await once(app, "exit");
  });
});
