import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { suite, type TestContext, test } from "node:test";
import { readDescription } from "../helpers/check-answer.ts";
import { type Answer, ask } from "../helpers/client.ts";
import { startServer } from "../helpers/server.ts";
import { workingDir } from "../helpers/working-dir.ts";

const { status, json, text: description } = await askConfigured();

async function askConfigured(): Promise<Answer> {
  const dir = workingDir();
  writeFileSync(join(dir, "authserve.yaml"), "sources: { shop: { preset: github, secrets: [env:SHOP_SECRET] } }\n");
  await using server = await startServer({ dir, env: { SHOP_SECRET: "a secret of the tests" } });
  return await ask(server, "/openapi.json");
}

test("GET /openapi.json describes each endpoint, also those of the configuration file", () => {
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

interface Reply {
  status: number;
  type: string;
  body: unknown;
}

/** A server with the description of a real one, and one reply to every other request. */
async function startWith(t: TestContext, { status, type, body }: Reply): Promise<{ url: string }> {
  const server = createServer(({ url }, response) => {
    if (url === "/openapi.json") response.end(description);
    else response.writeHead(status, { "Content-Type": type }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await readDescription(url);
  return { url };
}

const JSON_TYPE = "application/json";
const ME = { userId: "user", email: "user@example.com" };
const PROBLEM = {
  type: "about:blank",
  title: "Unauthorized",
  status: 401,
  detail: "Unauthorized",
  code: "missing_token",
  requestId: "1",
};
const RIGHT = { status: 200, type: JSON_TYPE, body: ME };
const REFUSED = { status: 401, type: "application/problem+json", body: PROBLEM };

suite("the check of each answer in these tests", () => {
  for (const [what, path, reply] of [
    ["answer", "/auth/me", RIGHT],
    ["error", "/auth/me", REFUSED],
    ["error at an unknown path", "/auth/you", { ...REFUSED, status: 404 }],
  ] as const) {
    test(`accepts a described ${what}`, async (t) => {
      const server = await startWith(t, reply);
      assert.equal((await ask(server, path)).status, reply.status);
    });
  }

  for (const [what, request, reply, expected] of [
    ["with a status that is not described", "GET /auth/me", { ...RIGHT, status: 201 }, /answered 201 .* not described/],
    ["of another media type", "GET /auth/me", { ...RIGHT, type: "text/html" }, /text\/html, which is not described/],
    ["without a described member", "GET /auth/me", { ...RIGHT, body: { userId: "1" } }, /required property 'email'/],
    ["with another member", "GET /auth/me", { ...RIGHT, body: { ...ME, name: "" } }, /unevaluated properties/],
    ["with a member of another type", "GET /auth/me", { ...RIGHT, body: { ...ME, email: 1 } }, /email must be string/],
    [
      "with another code",
      "GET /auth/me",
      { ...REFUSED, body: { ...PROBLEM, code: "not_found" } },
      /code must be equal/,
    ],
    ["with another member of an error", "GET /auth/me", { ...REFUSED, body: { ...PROBLEM, at: 1 } }, /unevaluated/],
    ["at a path that is not described", "GET /auth/you", RIGHT, /GET \/auth\/you answered 200 .* not described/],
    ["to a method that is not described", "DELETE /auth/me", RIGHT, /DELETE \/auth\/me answered 200 .* not described/],
  ] as const) {
    test(`refuses an answer ${what}`, async (t) => {
      const [method = "", path = ""] = request.split(" ");
      await assert.rejects(ask(await startWith(t, reply), path, { method }), expected);
    });
  }
});
