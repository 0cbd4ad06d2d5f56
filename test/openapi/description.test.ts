import assert from "node:assert/strict";
import { cpSync, existsSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { needs } from "../helpers/back-end.ts";
import { ask, deliver, event } from "../helpers/client.ts";
import { runProgram } from "../helpers/command.ts";
import { EMAIL, PASSWORD } from "../helpers/credentials.ts";
import { startServer } from "../helpers/server.ts";
import { settled } from "../helpers/stored-events.ts";
import { HANG_MS } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";
import packageJson from "./package.json" with { type: "json" };

const PACKAGES = join(import.meta.dirname, "node_modules");
const TSC = join(import.meta.dirname, "../../node_modules/typescript/bin/tsc");
const TYPES = join(import.meta.dirname, "../../node_modules/@types");

const isInstalled = () => Object.keys(packageJson.dependencies).every((name) => existsSync(join(PACKAGES, name)));

const needsPackages = () =>
  needs("the lint of the description", isInstalled, "its packages are missing (npm ci --prefix test/openapi)");

const CONFIG = `sources:
  github: { preset: github, secrets: [env:SECRET] }
  chat: { preset: slack, secrets: [env:SECRET] }
  any: { verify: { header: x-sig }, secrets: [env:SECRET], contentTypes: ["*/*"] }
`;

suite("the description of a server", needsPackages(), async () => {
  const server = await startConfigured();
  after(() => server[Symbol.asyncDispose]());
  const dir = workingDir();
  writeFileSync(join(dir, "openapi.json"), (await ask(server, "/openapi.json")).text);

  const run = (program: string, ...args: string[]) =>
    // Without these settings, the lint sends data about itself and looks for a newer version.
    runProgram(process.execPath, [program, ...args], {
      dir,
      env: { REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" },
      // Compilers take seconds, which a busy machine makes a minute.
      timeoutMs: 5 * HANG_MS,
    });

  test("has no fault that a lint finds", async () => {
    // A form of the login page is answered with a redirect or a refusal, never with 2xx. The page is a folder.
    const skipped = ["operation-2xx-response", "no-path-trailing-slash"];
    const rules = ["--extends=recommended", ...skipped.map((rule) => `--skip-rule=${rule}`)];
    const lint = join(PACKAGES, "@redocly/cli/bin/cli.js");
    const { stdout, stderr } = await run(lint, "lint", "openapi.json", "--format=json", ...rules);
    const { totals, problems } = JSON.parse(stdout || JSON.stringify({ problems: stderr }));
    assert.deepEqual(problems, []);
    assert.deepEqual(totals, { errors: 0, warnings: 0, ignored: 0 });
  });

  test("gives types with which a program talks to the server", async () => {
    const typesOf = join(PACKAGES, "openapi-typescript/bin/cli.js");
    const made = await run(typesOf, "openapi.json", "--output", "description.ts");
    assert.equal(made.code, 0, made.stderr);
    cpSync(join(import.meta.dirname, "program"), dir, { recursive: true });
    cpSync(join(import.meta.dirname, "package.json"), join(dir, "package.json"));
    symlinkSync(PACKAGES, join(dir, "node_modules"));
    writeFileSync(join(dir, "tsconfig.json"), JSON.stringify({ compilerOptions: COMPILER_OPTIONS }));
    const compiled = await run(TSC, "-p", ".");
    assert.equal(compiled.code, 0, compiled.stdout);

    await deliver(server, event("evt_1"));
    await settled(server, "evt_1");
    const { stdout, stderr } = await run("client.ts", server.url, EMAIL, PASSWORD, "evt_1");
    assert.deepEqual(JSON.parse(stdout || JSON.stringify(stderr)), {
      email: EMAIL,
      processed: 1,
      sources: ["default", "github", "chat", "any"],
      events: ["order.paid"],
      routes: ["default"],
      refused: ["is already processed"],
      error: "missing_token",
    });
  });
});

const COMPILER_OPTIONS = {
  target: "es2024",
  module: "nodenext",
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  allowImportingTsExtensions: true,
  verbatimModuleSyntax: true,
  skipLibCheck: true,
  noEmit: true,
  typeRoots: [TYPES],
  types: ["node"],
};

function startConfigured() {
  const dir = workingDir();
  writeFileSync(join(dir, "authserve.yaml"), CONFIG);
  return startServer({ dir, env: { SECRET: "a secret of the tests" } });
}
