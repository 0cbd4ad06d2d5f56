import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ask } from "../helpers/client.ts";
import { startServer } from "../helpers/server.ts";
import { workingDir } from "../helpers/working-dir.ts";

test("GET /openapi.json describes each endpoint, also those of the configuration file", async () => {
  const dir = workingDir();
  writeFileSync(join(dir, "authserve.yaml"), "sources: { shop: { preset: github, secrets: [env:SHOP_SECRET] } }\n");
  await using server = await startServer({ dir, env: { SHOP_SECRET: "a secret of the tests" } });
  const { status, json } = await ask(server, "/openapi.json");
  assert.equal(status, 200);
  const { openapi, paths } = json as { openapi: string; paths: Record<string, Record<string, { responses: object }>> };
  assert.equal(openapi, "3.1.0");
  for (const path of ["/auth/login", "/webhook", "/webhook/shop", "/admin/api/events/{id}", "/openapi.json"]) {
    assert.ok(paths[path], path);
  }
  const operations = Object.values(paths).flatMap((path) => Object.values(path));
  assert.ok(operations.every(({ responses }) => Object.keys(responses).length > 0));
  assert.doesNotMatch(JSON.stringify(json), /a secret of the tests/);
});
