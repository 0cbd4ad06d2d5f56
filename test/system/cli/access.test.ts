import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { startServer } from "../../helpers/server.ts";
import { workingDir } from "../../helpers/working-dir.ts";

const dir = workingDir();
writeFileSync(
  join(dir, "authserve.yaml"),
  `access:
  - { host: app.example.com, path: /public/**, allow: everyone }
  - { networks: [192.0.2.0/24], host: lan.example.com, allow: everyone }
  - { host: app.example.com, path: /hook, methods: [POST], allow: [token] }
  - { host: app.example.com, path: /people/**, allow: [session] }
  - { host: old.example.com, allow: nobody }
`,
);
const server = await startServer({ dir });
after(() => server[Symbol.asyncDispose]());
for (const [name, scope] of [
  ["all", "verify"],
  ["dav", "verify:dav.example.com"],
] as const)
  await server.run(["tokens", "create", name, "--scope", scope]);

suite("access explain", () => {
  for (const [url, options, decision, entry, reason] of [
    ["https://app.example.com/public/a", [], "allowed", 1, "entry 1 decides, and everyone may pass"],
    ["https://app.example.com/x", [], "login", null, "no entry matches, and the request needs a session or a token"],
    ["https://lan.example.com/", ["--from", "192.0.2.7"], "allowed", 2, "entry 2 decides, and everyone may pass"],
    ["https://lan.example.com/", [], "login", null, "no entry matches, and the request needs a session or a token"],
    [
      "https://app.example.com/hook",
      ["--method", "post"],
      "denied",
      3,
      "entry 3 decides, and the request needs a token",
    ],
    [
      "https://app.example.com/hook",
      ["--method", "POST", "--token", "all"],
      "allowed",
      3,
      "entry 3 decides, and the token all has the scope",
    ],
    ["https://app.example.com/people/a", [], "login", 4, "entry 4 decides, and the request needs a session"],
    ["https://app.example.com/people/a", ["--token", "all"], "denied", 4, "entry 4 decides, and no token may pass"],
    ["https://old.example.com/", ["--token", "all"], "denied", 5, "entry 5 decides, and nobody may pass"],
    [
      "https://app.example.com/x",
      ["--token", "dav"],
      "denied",
      null,
      "no entry matches, and the token dav has not the scope verify, nor verify:app.example.com",
    ],
    [
      "https://dav.example.com/",
      ["--token", "dav"],
      "allowed",
      null,
      "no entry matches, and the token dav has the scope",
    ],
    [
      "https://app.example.com/public/../x",
      [],
      "login",
      null,
      "no entry matches, and the request needs a session or a token; apps may read this path in several ways, not each of which is open to everyone",
    ],
  ] as const)
    test(`${url} ${options.join(" ")}`, async () => {
      const args = ["access", "explain", url, ...options];
      const { code, stdout } = await server.run([...args, "--json"]);
      assert.deepEqual([code, JSON.parse(stdout)], [decision === "allowed" ? 0 : 1, { decision, entry, reason }]);
      assert.equal((await server.run(args)).stdout, `${decision}: ${reason}\n`);
    });

  for (const args of [["app.example.com"], ["https://a/", "--from", "lan"], ["https://a/", "--token", "none"]])
    test(`refuses ${args.join(" ")}`, async () =>
      assert.equal((await server.run(["access", "explain", ...args])).code, 2));
});
