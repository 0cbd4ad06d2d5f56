import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { dirWithBen } from "../../helpers/invitations.ts";
import { sendRaw } from "../../helpers/raw-http.ts";
import { type Server, startServer } from "../../helpers/server.ts";

// Those of senders, of load balancers, and what a proxy may serve at a domain of its own.
const UNDER_ANY_NAME = [
  ...["/webhook", "/healthz", "/readyz"],
  ...["/.well-known/webauthn", "/.well-known/device-bound-sessions"],
];

async function answerTo({ port }: Server, method: string, path: string, host: string) {
  const head = [`${method} ${path} HTTP/1.1`, `Host: ${host}`, "Connection: close", "Content-Length: 0"];
  return sendRaw(port, `${head.join("\r\n")}\r\n\r\n`);
}

/** Each method and path that the server describes. */
async function operationsOf({ url }: Server): Promise<[method: string, path: string][]> {
  const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as { paths: Record<string, object> };
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.keys(item).map((method): [string, string] => [method.toUpperCase(), path.replaceAll(/[{}]/g, "")]),
  );
}

for (const [where, env] of [
  ["on loopback without PUBLIC_URL", {}],
  ["with PUBLIC_URL", { PUBLIC_URL: "https://auth.example.com", HOST: "0.0.0.0" }],
] as const) {
  suite(`W7 ${where}`, () => {
    test("every path but those for any name refuses a name that is not known", async () => {
      await using server = await startServer({ env, dir: dirWithBen() });
      const operations = await operationsOf(server);
      assert.ok(operations.length > 20);
      for (const [method, path] of operations) {
        const { status, body } = await answerTo(server, method, path, "evil.test");
        if (UNDER_ANY_NAME.includes(path)) assert.notEqual(status, 421, path);
        else
          assert.deepEqual(
            [status, method === "HEAD" || JSON.parse(body).code],
            [421, method === "HEAD" || "unknown_host"],
            path,
          );
        const known = await answerTo(server, method, path, "PUBLIC_URL" in env ? "auth.example.com" : "localhost:80");
        assert.notEqual(known.status, 421, path);
      }
    });
  });
}

test("W7 ALLOWED_HOSTS names further hosts", async () => {
  await using server = await startServer({ env: { ALLOWED_HOSTS: "auth.internal, Other.Example" } });
  for (const [host, status] of [
    ["AUTH.internal:3000", 401],
    ["other.example", 401],
    ["evil.test", 421],
  ] as const)
    assert.equal((await answerTo(server, "GET", "/auth/me", host)).status, status, host);
});
