import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { after, before, suite, test } from "node:test";
import packageJson from "../../package.json" with { type: "json" };
import { ownTarget } from "../../scripts/build/targets.ts";
import { buildNpmPackage } from "../../scripts/release/npm.ts";
import { BINARY, binaryIsMissing } from "../helpers/binary.ts";
import { ask } from "../helpers/client.ts";
import { runProgram, startProgram } from "../helpers/command.ts";
import { tempDir } from "../helpers/temp-dir.ts";
import { until } from "../helpers/until.ts";

const { version } = packageJson;

suite("the npm package", { skip: binaryIsMissing() }, () => {
  const output = mkdtempSync(join(tmpdir(), "authserve-npm-"));
  const files = buildNpmPackage([{ target: ownTarget(), executable: BINARY }], output, output);
  const registry = serveRegistry(output, files);
  const path = (process.env.PATH ?? "").split(delimiter).filter((folder) => !folder.includes("node_modules"));
  const env = () => ({
    // The Node and npm of this machine, not those of the checkout.
    PATH: path.join(delimiter),
    npm_config_registry: registry.url(),
    npm_config_cache: join(output, "cache"),
    npm_config_update_notifier: "false",
    HOME: output,
  });
  before(registry.listen);
  after(() => {
    registry.close();
    rmSync(output, { recursive: true, force: true });
  });

  test("`npx authserve serve --init` serves without a build, and npm warns of nothing", async (context) => {
    const dir = tempDir(context);
    const server = startProgram("npx", ["--yes", "authserve", "serve", "--init"], {
      dir,
      env: { ...env(), PORT: "0" },
    });
    context.after(() => void server.child.kill("SIGKILL"));
    const started = await until(() => /\{.*"event":"server_started".*\}/.exec(server.stdout())?.[0]);
    const { url, pid } = JSON.parse(started);
    assert.equal((await ask({ url }, "/readyz")).status, 200);
    assert.doesNotMatch(server.stderr(), /npm warn|EBADENGINE|deprecated/i);
    process.kill(pid, "SIGTERM");
    assert.equal((await server.exited).code, 0, server.stderr());
  });

  test("an installed package is one process, and hands on arguments and the exit code", async (context) => {
    const dir = tempDir(context);
    const install = ["install", "--no-audit", "--no-fund", "authserve"];
    const installed = await runProgram("npm", install, { dir, env: env() });
    assert.equal(installed.code, 0, installed.stderr);
    const authserve = join(dir, "node_modules/.bin/authserve");
    assert.match((await runProgram(authserve, ["--version"], { dir })).stdout, new RegExp(version));
    assert.equal((await runProgram(authserve, ["nonsense"], { dir })).code, 2);
    const ready = startProgram(authserve, ["ready", "--timeout", "1h"], { dir, env: { DATA_DIR: dir } });
    context.after(() => void ready.child.kill("SIGKILL"));
    await until(() => /authserve-/.test(readFileSync(`/proc/${ready.child.pid}/cmdline`, "utf8")));
  });

  test("without the package of the platform, the command says what to do", async (context) => {
    const dir = tempDir(context);
    const install = ["install", "--no-audit", "--no-fund", "--omit=optional", "authserve"];
    assert.equal((await runProgram("npm", install, { dir, env: env() })).code, 0);
    const { code, stderr } = await runProgram(join(dir, "node_modules/.bin/authserve"), ["--version"], { dir });
    assert.equal(code, 1);
    assert.match(stderr, new RegExp(`authserve-${ownTarget().name} is not installed: install without --omit=optional`));
  });
});

/** A registry of npm with these archives only, each of the version of this checkout. */
function serveRegistry(folder: string, files: readonly string[]) {
  const nameOf = (file: string) => file.slice(0, -`-${version}.tgz`.length);
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? "").slice(1);
    if (files.includes(path)) return void response.end(readFileSync(join(folder, path)));
    const file = files.find((one) => nameOf(one) === path);
    if (!file) return void response.writeHead(404).end("{}");
    const integrity = `sha512-${createHash("sha512")
      .update(readFileSync(join(folder, file)))
      .digest("base64")}`;
    const dist = { tarball: `${url()}/${file}`, integrity };
    const manifest = { ...manifests[file], dist };
    response.writeHead(200, { "Content-Type": "application/json" });
    response.end(JSON.stringify({ name: path, "dist-tags": { latest: version }, versions: { [version]: manifest } }));
  });
  const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const manifests = Object.fromEntries(files.map((file) => [file, manifestIn(join(folder, file))]));
  return {
    url,
    listen: () => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)),
    close: () => void server.close(),
  };
}

function manifestIn(archive: string): object {
  return JSON.parse(execFileSync("tar", ["-xzOf", archive, "package/package.json"], { encoding: "utf8" }));
}
