import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { connect } from "node:tls";
import { APP, echoOf, GENUINE, loggedIn, PROXIES, siteOf, userHeaders } from "../helpers/protected-app.ts";
import type { Edit } from "../helpers/proxy.ts";
import { HANG_MS, until } from "../helpers/until.ts";
import { Visitor } from "../helpers/visitor.ts";
import { workingDir } from "../helpers/working-dir.ts";

const file = join(workingDir(), "authserve.yaml");

const RULES = `access:
  - { host: app.example.com, path: /public/**, allow: everyone }
  - { host: app.example.com, path: /hook/*, methods: [POST, OPTIONS], allow: everyone }
  - { host: open.example.com, allow: everyone }
  - { host: app.example.com, path: /lan/**, networks: [192.0.2.0/24], allow: everyone }
  - { host: app.example.com, path: /closed/**, allow: nobody }
  - { host: app.example.com, path: /people/**, allow: [session] }
  - { host: app.example.com, path: /robots/**, allow: [token] }
`;

/** Requests of somebody without a login. Each one is meant to reach what is closed: target, host and further lines. */
const HOSTILE: [target: string, host?: string, ...lines: string[]][] = [
  ...[
    ...[
      "/public/../secret",
      "/public/./../secret",
      "/public/x/../../secret",
      "/public/..",
      "/public/../public/../secret",
    ],
    ...["/public/%2e%2e/secret", "/public/%2E%2E/secret", "/public/.%2e/secret", "/public/%2e./secret"],
    ...["/public/%252e%252e/secret", "/public/%25252e%25252e/secret", "/public/..%2fsecret", "/public/..%252fsecret"],
    ...["/public%2f..%2fsecret", "/public%2fx", "/public%252fx", "/public/%2e%2e%2fsecret", "/public/%5c..%5csecret"],
    ...["/public/..%5csecret", "/public/..\\secret", "/public\\..\\secret", "\\public\\x", "/public/..;/secret"],
    ...["/public;/../secret", "/public/;x/../secret", "/public/%3b/../secret", "/public%3bx/secret"],
    ...["//public/x", "///public/x", "/./public/x", "/secret/../public/x", "//secret", "/secret//"],
    ...["/PUBLIC/x", "/Public/x", "/public.", "/publicx", "/public%20/x", "/public%00/x", "/%00/public"],
    ...["/public/#/../secret", "/secret#/public/x", "/secret%23/public/x", "/secret?/public/x", "/secret?x=/public/"],
    ...["/public/%c0%ae%c0%ae/secret", "/public/%ff", "/public/%u002e/secret", "/public/%zz", "/public/%"],
    ...["/public/%3f/../secret", "/public/..%20/secret", "/public/..%20%2e/secret", "/public/%20../secret"],
    ...["/public/.../secret", "/public/%2e%2e%3bx/secret", "/public/..%c2%a0/secret"],
    ...["/publi\u00e7/x", "/%ef%bc%8fpublic/x", "/\uff0fpublic/x", "/public\uff0f..\uff0fsecret"],
    // As in chillzhuang/SpringBlade#8, maximhq/bifrost#5765 and tlbx-ai/tlbx#153.
    ...[
      "/secret;%2fpublic",
      "/secret;/public/x",
      "/secret/..%2fpublic%2fx",
      "/secret/%2e%2e%2fpublic",
      "/secret/x.png",
    ],
    ...["/hook/x", "/hook/x/y", "/lan/x", "/closed/x", "/closed", "/closed/", "/people/x", "/robots/x", "/", "/secret"],
    `/public/${"a/".repeat(4000)}../../secret`,
    `/public/${"../".repeat(2600)}secret`,
    `/public/${"%2e%2e%2f".repeat(800)}secret`,
    `/${"a".repeat(8000)}`,
  ].map((target): [string] => [target]),
  // The whole address as the target, with the same host and with another one.
  ["https://app.example.com/secret"],
  ["http://app.example.com/public/../secret"],
  ["https://app.example.com/secret", "open.example.com"],
  ["https://open.example.com/secret", "app.example.com"],
  ["https://open.example.com/secret", "open.example.com"],
  ["https://open.example.com@app.example.com/secret"],
  ["app.example.com/public/x"],
  // The host in other forms.
  ...["app.example.com.", "APP.EXAMPLE.COM", "app.example.com:443", "app.example.com:80", "app.example.com:99999"].map(
    (host): [string, string] => ["/secret", host],
  ),
  ...[
    ...["open.example.com", "open.example.com:443", "open.example.com.", "app.example.com?.open.example.com"],
    ...["app.example.com#open.example.com", "open.example.com#app.example.com", "app.example.com/public/"],
    ...["app.example.com/public/?", "app.example.com?/public/", "open.example.com@app.example.com", "app.example.com "],
    ...[
      "\u00e4pp.example.com",
      "app\u3002example.com",
      "xn--pp-uia.example.com",
      "app.example.com,open.example.com",
      "",
    ],
  ].map((host): [string, string] => ["/secret", host]),
  ["/secret", "app.example.com", "Host: open.example.com"],
  // What a client says of itself.
  ...[
    ...["X-Forwarded-Uri: /public/x", "X-Original-URL: https://app.example.com/public/x", "X-Original-Uri: /public/x"],
    ...["X-Forwarded-Host: open.example.com", "X-Forwarded-Prefix: /public", "X-Rewrite-Url: /public/x"],
    ...["X_Forwarded_Uri: /public/x", "X_Original_URL: https://open.example.com/", "Forwarded: host=open.example.com"],
    ...["X-Forwarded-Method: POST", "X-HTTP-Method-Override: POST", "X-Original-Method: OPTIONS"],
    ...["User-Agent: kube-probe/1.30", "User-Agent: GoogleHC/1.0", "Remote-User: 1", "Remote-Token: ci"],
  ].map((line): [string, string, string] => ["/secret", "app.example.com", line]),
  ["/hook/x", "app.example.com", "X-Forwarded-Method: POST"],
  ["/hook/x", "app.example.com", "X-HTTP-Method-Override: POST"],
  ["/lan/x", "app.example.com", "X-Forwarded-For: 192.0.2.1"],
  ["/lan/x", "app.example.com", "X-Real-Ip: 192.0.2.1"],
  ["/lan/x", "app.example.com", "Forwarded: for=192.0.2.1"],
  ["/lan/x", "app.example.com", "Connection: close, X-Forwarded-For"],
];

/** Sends a request as it is to a proxy, and reads the status. Null: the proxy closed the connection. */
async function sendTo(port: number, target: string, host: string, lines: readonly string[]): Promise<number | null> {
  const socket = connect({ port, host: "127.0.0.1", servername: "app.example.com", rejectUnauthorized: false });
  const received: Buffer[] = [];
  socket.on("data", (part: Buffer) => received.push(part)).on("error", () => {});
  const head = [`GET ${target} HTTP/1.1`, `Host: ${host}`, "Connection: close", ...lines].join("\r\n");
  socket.write(Buffer.from(`${head}\r\n\r\n`, "utf8"));
  const timer = setTimeout(() => socket.destroy(new Error("the connection stayed open")), HANG_MS);
  await new Promise((resolve) => socket.once("close", resolve));
  clearTimeout(timer);
  const status = /^HTTP\/1\.[01] ([0-9]{3})/.exec(Buffer.concat(received).toString("latin1"))?.[1];
  return status === undefined ? null : Number(status);
}

suite("the entries of access behind a proxy", { concurrency: PROXIES.length }, () => {
  for (const [name, needsProxy] of PROXIES) {
    suite(name, { ...needsProxy(), concurrency: 1 }, () => {
      writeFileSync(file, RULES);
      const site = siteOf(name, { CONFIG_FILE: file });

      test("let everyone pass where they say so, without a user", async () => {
        const program = new Visitor(site.proxy.port);
        const ask = (path: string, method = "GET") =>
          program.request(`${APP}${path}`, { method, headers: { accept: "*/*" }, lines: ["Remote-User", "mallory"] });
        for (const path of ["/public", "/public/", "/public/a/b?x=/../y", "/public/%C3%A9%20b", "/%70ublic/x"]) {
          const echo = echoOf(await ask(path));
          assert.equal(echo.url, path);
          assert.deepEqual(
            userHeaders(echo).filter(([, value]) => value !== ""),
            [],
          );
        }
        assert.equal(echoOf(await ask("/hook/x", "POST")).method, "POST");
      });

      // https://github.com/spantaleev/matrix-docker-ansible-deploy/issues/4798: clients of Matrix, and shared files.
      test("let everyone pass who stays below an open folder in each reading", async () => {
        for (const path of ["/public/%23room:a.org", "/public/a%2Fb", "/public//x", "/public/a;b", "/public/x%3Fy"]) {
          const before = site.app.received.length;
          assert.equal(await sendTo(site.proxy.port, path, "app.example.com", []), 200, path);
          assert.deepEqual(
            site.app.received.slice(before).map(({ url }) => url),
            [path],
          );
        }
      });

      test("let a preflight pass only where an entry names its method", async () => {
        const program = new Visitor(site.proxy.port);
        const headers = { accept: "*/*", origin: "https://other.example", "access-control-request-method": "GET" };
        const preflight = async (path: string) =>
          (await program.request(`${APP}${path}`, { method: "OPTIONS", headers })).status;
        assert.deepEqual([await preflight("/hook/x"), await preflight("/secret")], [200, 401]);
      });

      test("tell a public page who is logged in, and close what is closed to everybody", async () => {
        const visitor = await loggedIn(site);
        assert.deepEqual(userHeaders(echoOf(await visitor.request(`${APP}/public/x`))), GENUINE);
        assert.deepEqual(userHeaders(echoOf(await visitor.request(`${APP}/people/x`))), GENUINE);
        const before = site.app.received.length;
        for (const path of ["/closed/x", "/closed", "/public/../closed/x", "//closed/x", "/x/%2e%2e/closed"])
          assert.notEqual((await visitor.request(`${APP}${path}`, { headers: { accept: "*/*" } })).status, 200, path);
        assert.equal(site.app.received.length, before);
      });

      test("take a token where they say so", async () => {
        const { stdout } = await site.server.run(["tokens", "create", "robot", "--scope", "verify"]);
        const program = new Visitor(site.proxy.port);
        const status = async (path: string) => {
          const lines = ["Authorization", `Bearer ${stdout.trim()}`];
          return (await program.request(`${APP}${path}`, { headers: { accept: "*/*" }, lines })).status;
        };
        assert.deepEqual(
          [await status("/robots/x"), await status("/other"), await status("/people/x"), await status("/closed/x")],
          [200, 200, 403, 403],
        );
        assert.equal(await status("/robots/../people/x"), 403);
      });

      test("let no token of a program reach the app where everyone passes, whether it has the scope or not", async () => {
        const { stdout } = await site.server.run(["tokens", "create", "elsewhere", "--scope", "verify:x.example.com"]);
        const token = stdout.trim();
        const program = new Visitor(site.proxy.port);
        const basic = (password: string) => `Basic ${Buffer.from(`git:${password}`).toString("base64")}`;
        const passes = async (...values: string[]) => {
          const lines = values.flatMap((value) => ["Authorization", value]);
          const echo = echoOf(await program.request(`${APP}/public/x`, { headers: { accept: "*/*" }, lines }));
          return echo.headers.filter(([header]) => /^authorization$/i.test(header)).map(([, value]) => value);
        };
        for (const value of [`Bearer ${token}`, basic(token), `bearer  ${token}`, `Bearer ${token.slice(0, -1)}`])
          assert.deepEqual(await passes(value), [], value.slice(0, 12));
        for (const value of ["Bearer app-own-token", basic("app-own")]) assert.deepEqual(await passes(value), [value]);
      });

      test(`let none of ${HOSTILE.length} hostile requests reach what is closed`, async () => {
        const { app, proxy } = site;
        const before = app.received.length;
        for (const [target, host = "app.example.com", ...lines] of HOSTILE) {
          // Caddy answers 200 by itself for a host that it does not know.
          const status = await sendTo(proxy.port, target, host, lines);
          const reached = app.received.slice(before).map(({ url }) => url.slice(0, 100));
          assert.deepEqual(reached, [], `${target.slice(0, 100)} ${host} ${lines.join()}`);
          assert.ok(
            status === null || status < 500 || name === "haproxy",
            `${target.slice(0, 100)} ${host}: ${status}`,
          );
        }
      });
    });
  }
});

/** Lines for a proxy as people post them, with less than the files of `deploy/`. */
const SHORT_LINES: Record<string, Edit> = {
  // As in the documentation of Caddy's forward_auth.
  caddy: () =>
    "app.example.com {\n\tforward_auth 127.0.0.1:3000 {\n\t\turi /auth/verify/redirect\n\t\tcopy_headers Remote-User\n\t}\n\treverse_proxy 127.0.0.1:8080\n}\n",
  nginx: (text) => text.replace(/ *proxy_set_header X-Original-Method \$request_method;\n/, ""),
};

suite("the entries of access behind a proxy with short lines", { concurrency: PROXIES.length }, () => {
  for (const [name, needsProxy] of PROXIES) {
    const edit = SHORT_LINES[name];
    if (edit === undefined) continue;
    suite(name, { ...needsProxy(), concurrency: 1 }, () => {
      const own = join(workingDir(), "authserve.yaml");
      writeFileSync(
        own,
        "access:\n  - { host: app.example.com, path: /open/**, allow: everyone }\n  - { host: app.example.com, path: /read/**, methods: [GET], allow: everyone }\n",
      );
      const site = siteOf(name, { CONFIG_FILE: own }, edit);

      // https://github.com/oauth2-proxy/oauth2-proxy/issues/3506 and https://github.com/authelia/authelia/issues/2840
      test("open no page and no method that a header of a stranger names", async () => {
        const { app, proxy } = site;
        const program = new Visitor(proxy.port);
        const ask = (path: string, method: string, ...lines: string[]) =>
          program.request(`${APP}${path}`, { method, headers: { accept: "*/*" }, lines });
        assert.equal((await ask("/open/x", "GET")).status, 200);
        const before = app.received.length;
        const URL = `${APP}/open/x`;
        for (const path of ["/secret", "/read/../secret"]) {
          await ask(path, "GET", "X-Original-URL", URL);
          await ask(path, "GET", "X-Original-URL", URL, "X-Forwarded-Uri", "/open/x");
          await ask(path, "GET", "X-Forwarded-Uri", "/open/x", "X-Forwarded-Host", "app.example.com");
        }
        for (const method of ["POST", "DELETE"]) {
          await ask("/read/x", method);
          await ask("/read/x", method, "X-Original-Method", "GET");
          await ask("/read/x", method, "X-Forwarded-Method", "GET");
          await ask("/read/x", method, "X-Forwarded-Method", "GET", "X-Forwarded-Uri", "/read/x");
          await ask("/read/x", method, "X-Original-URL", `${APP}/read/x`, "X-Original-Method", "GET");
        }
        assert.deepEqual(
          app.received.slice(before).map(({ method, url }) => `${method} ${url}`),
          [],
        );
        await site.server.logged("original_request_unclear");
      });
    });
  }
});

suite("the entries of access", () => {
  const [[name, needsProxy]] = PROXIES as [(typeof PROXIES)[number]];
  suite(name, needsProxy(), () => {
    const own = join(workingDir(), "authserve.yaml");
    writeFileSync(own, "access:\n  - { host: app.example.com, path: /a, allow: everyone }\n");
    const site = siteOf(name, { CONFIG_FILE: own });

    test("are taken up as a whole when the file changes, and stay when it has a fault", async () => {
      const program = new Visitor(site.proxy.port);
      const statuses = async () => {
        const ask = async (path: string) =>
          (await program.request(`${APP}${path}`, { headers: { accept: "*/*" } })).status;
        return [await ask("/a"), await ask("/b")];
      };
      assert.deepEqual(await statuses(), [200, 401]);
      writeFileSync(own, "access:\n  - { path: /b, allow: everyone }\n  - { path: /a, allow: noone }\n");
      await site.server.run(["reload"]);
      assert.deepEqual(await statuses(), [200, 401]);
      writeFileSync(own, "access:\n  - { host: app.example.com, path: /b, allow: everyone }\n");
      assert.equal((await site.server.run(["reload"])).code, 0);
      await until(async () => (await statuses()).join() === "401,200");
    });
  });
});
