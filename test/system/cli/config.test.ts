import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { authserve } from "../../helpers/command.ts";
import { workingDir } from "../../helpers/working-dir.ts";

const dir = workingDir();
const env = { SECRET: "a secret of the tests" };
const run = (...args: string[]) => authserve(args, { dir, env });
const write = (text: string) => writeFileSync(join(dir, "authserve.yaml"), text);

const GOOD = "sources:\n  a: { preset: github, secrets: [env:SECRET] }\n";
const BAD = "sources:\n  a: { preset: githup, secrets: [env:SECRET] }\n  b: 1\n";

suite("authserve config check", () => {
  test("says what to do without a file", async () => {
    const { code, stderr } = await authserve(["config", "check"], { dir: workingDir(), env });
    assert.equal(code, 2);
    assert.match(stderr, /There is no authserve\.yaml.*\n {2}hint: create it/);
  });

  test("needs no other setting, and counts the sources of a good file", async () => {
    write(GOOD);
    const { code, stdout, stderr } = await run("config", "check");
    assert.deepEqual([code, stdout, stderr], [0, "authserve.yaml is valid: 1 source\n", ""]);
    assert.deepEqual(JSON.parse((await run("config", "check", "--json")).stdout), {
      file: "authserve.yaml",
      valid: true,
      errors: [],
      warnings: [],
    });
  });

  test("prints each fault of a bad file in a line of its own, and exits with 2", async () => {
    write(BAD);
    const { code, stdout, stderr } = await run("config", "check");
    assert.deepEqual([code, stdout], [2, ""]);
    const [first = "", second = "", ...more] = stderr.trimEnd().split("\n");
    assert.match(first, /^authserve\.yaml:2:16 sources\.a\.preset: .*did you mean github/);
    assert.match(second, /^authserve\.yaml:3:6 sources\.b: found 1/);
    assert.deepEqual(more, ["  more: authserve docs reference/configuration-file"]);
    const json = await run("config", "check", "--json");
    assert.equal(json.code, 2);
    const { valid, errors } = JSON.parse(json.stdout);
    assert.equal(valid, false);
    assert.deepEqual(Object.keys(errors[0]).sort(), ["column", "key", "line", "message"]);
  });

  test("checks the file of its argument instead of the configured one", async () => {
    write(GOOD);
    writeFileSync(join(dir, "new.yaml"), BAD);
    const { code, stderr } = await run("config", "check", "new.yaml");
    assert.deepEqual([code, stderr.split(":")[0]], [2, "new.yaml"]);
    const missing = await run("config", "check", "missing.yaml");
    assert.equal(missing.code, 2);
    assert.match(missing.stderr, /missing\.yaml cannot be read \(ENOENT\)\n {2}hint: name a readable file\n/);
  });

  test("finds what stops serve, too", async () => {
    write(BAD);
    const { code, stderr } = await authserve(["serve"], {
      dir,
      env: {
        ...env,
        JWT_SECRET: "q7Zr0xV5tK2mW9yB4nL8sD1fG6hJ3pQe-test",
        DEMO_EMAIL: "a@example.com",
        DEMO_PASSWORD: "$2b$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy",
      },
    });
    assert.equal(code, 2);
    assert.match(stderr, /^authserve\.yaml:2:16 /);
  });
});

test("authserve config schema describes every key", async () => {
  const { code, stdout } = await run("config", "schema");
  assert.equal(code, 0);
  const schema = JSON.parse(stdout);
  assert.match(schema.$schema, /^http.*json-schema\.org/);
  const source = schema.properties.sources.additionalProperties;
  assert.deepEqual([schema.additionalProperties, source.additionalProperties], [false, false]);
  assert.ok(source.properties.preset.enum.includes("stripe"));
  for (const [name, { description }] of Object.entries<{ description?: string }>(source.properties)) {
    assert.match(description ?? "", /\.$/, name);
  }
});
