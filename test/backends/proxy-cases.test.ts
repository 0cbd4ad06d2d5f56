import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { type ClientHttp2Stream, connect, constants } from "node:http2";
import { join } from "node:path";
import { text as readText } from "node:stream/consumers";
import { suite, test } from "node:test";
import { EMAIL, PASSWORD } from "../helpers/credentials.ts";
import { type Echo, sha256 } from "../helpers/echo-app.ts";
import {
  APP,
  COOKIE,
  echoOf,
  GENUINE,
  loggedIn,
  logInOn,
  PROXIES,
  siteOf,
  startSite,
  userHeaders,
} from "../helpers/protected-app.ts";
import type { Edit, ProxyName } from "../helpers/proxy.ts";
import { PAGE, Visitor } from "../helpers/visitor.ts";

// Other apps of the domain have set 20 KB of cookies.
const CRUMBS = Array.from({ length: 10 }, (_, index) => `crumb-${index}=${"x".repeat(2000)}`);
const LARGE = Array.from({ length: 16 }, (_, index) => `crumb-${index}=${"x".repeat(1960)}`).join("; ");

const PUBLIC: Record<ProxyName, Edit> = {
  nginx: (text) =>
    text
      .replace(
        "    location = /_authserve {\n",
        "    location /hook/ {\n        proxy_pass http://127.0.0.1:8080;\n    }\n\n$&",
      )
      .replace(
        "        internal;\n",
        "$&        if ($request_method = OPTIONS) {\n            return 204;\n        }\n",
      ),
  caddy: (text) =>
    text
      .replace("\troute {\n", "\t@private {\n\t\tnot path /hook/*\n\t\tnot method OPTIONS\n\t}\n$&")
      .replace("reverse_proxy 127.0.0.1:3000", "reverse_proxy @private 127.0.0.1:3000"),
  haproxy: (text) =>
    text.replace("acl is_public always_false\n", "acl is_public path_beg /hook/\n    acl is_public method OPTIONS\n"),
};

const OTHER_HOST: Record<ProxyName, Edit> = {
  nginx: (text) => text.replace("proxy_set_header Host $host$asked_port;", "proxy_set_header Host internal.test;"),
  caddy: (text) => text.replace("header_up Remote-User {header.Remote-User}", "header_up Host internal.test\n$&"),
  haproxy: (text) => text.replace("    server app ", "    http-request set-header Host internal.test\n$&"),
};

const PAGE_OF_PROXIES = readFileSync(join(import.meta.dirname, "../../docs/protect-an-app.md"), "utf8");

/** The blocks of docs/protect-an-app.md that give authserve a path of the app's host. */
const oneHost = (language: string): string[] =>
  Array.from(
    PAGE_OF_PROXIES.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm")),
    ([, block = ""]) => block,
  ).filter((block) => block.includes("/sso"));

const ONE_HOST: Record<ProxyName, Edit> = {
  nginx: (text) => text.replace("    location / {\n", (found) => `${oneHost("nginx")[0]}${found}`),
  caddy: (text) => text.replace("\troute {\n", (found) => `${oneHost("caddy")[0]}${found}`),
  haproxy: (text) => {
    const [frontend, backend] = oneHost("haproxy");
    return text
      .replace(/^ *use_backend authserve .*\n/m, () => String(frontend))
      .replace(/^backend authserve\n.*\n/m, () => String(backend));
  },
};

const hostOf = ({ headers }: Echo) => headers.find(([name]) => /^host$/i.test(name))?.[1];

/** Sends a request over HTTP/2 and reads what the app received. */
async function overHttp2(port: number, headers: Record<string, string | string[]>, body?: Buffer): Promise<Echo> {
  const session = connect(APP, { port, host: "127.0.0.1", servername: "app.example.com", rejectUnauthorized: false });
  try {
    const path = { ":authority": "app.example.com", ":path": "/", ":method": body ? "POST" : "GET" };
    const stream: ClientHttp2Stream = session.request({ ...path, ...headers });
    stream.end(body);
    const [answer] = await once(stream, "response");
    const text = await readText(stream);
    assert.equal(answer[constants.HTTP2_HEADER_STATUS], 200, text);
    return JSON.parse(text) as Echo;
  } finally {
    session.close();
  }
}

suite("what apps meet behind a proxy", { concurrency: PROXIES.length }, () => {
  for (const [name, needsProxy] of PROXIES) {
    suite(name, { ...needsProxy(), concurrency: 1 }, () => {
      const site = siteOf(name);

      test("an upload of 5 MB arrives whole, and one without a session does not", async () => {
        const visitor = await loggedIn(site);
        const body = Buffer.alloc(5 * 1024 * 1024, "0123456789");
        for (const isChunked of [false, true]) {
          const echo = echoOf(await visitor.request(`${APP}/`, { method: "POST", body, isChunked }));
          assert.deepEqual([echo.bodyBytes, echo.bodySha256], [body.length, sha256(body)]);
          assert.deepEqual(userHeaders(echo), GENUINE);
        }
        const received = site.app.received.length;
        const form = await new Visitor(site.proxy.port).request(`${APP}/`, { method: "POST", body: "a=1" });
        assert.ok([302, 303].includes(form.status));
        assert.equal(site.app.received.length, received);
      });

      test("20 KB of cookies in crumbs of HTTP/2, and 32 KB in one header, pass with the session", async () => {
        const visitor = await loggedIn(site);
        const session = `${COOKIE}=${visitor.cookies.get(COOKIE)?.value}`;
        const crumbs = await overHttp2(site.proxy.port, { cookie: [...CRUMBS, session] });
        assert.deepEqual(userHeaders(crumbs), GENUINE);
        const headers = { accept: "*/*", cookie: `${LARGE}; ${session}` };
        const echo = echoOf(await new Visitor(site.proxy.port).request(`${APP}/`, { headers }));
        assert.deepEqual(userHeaders(echo), GENUINE);
        assert.ok(echo.headers.some(([, value]) => value.includes(LARGE)));
      });

      test("an upload over HTTP/2 arrives whole", async () => {
        const visitor = await loggedIn(site);
        const body = Buffer.alloc(1_100_000, "0123456789");
        const cookie = `${COOKIE}=${visitor.cookies.get(COOKIE)?.value}`;
        const echo = await overHttp2(site.proxy.port, { cookie }, body);
        assert.deepEqual([echo.bodyBytes, echo.bodySha256], [body.length, sha256(body)]);
        assert.deepEqual(userHeaders(echo), GENUINE);
      });

      // https://github.com/haproxy/haproxy/issues/410: the browser shows ERR_HTTP2_PROTOCOL_ERROR
      test("a refused upload over HTTP/2 gets its answer, whatever its size", async () => {
        const received = site.app.received.length;
        for (const size of [10, 1000, 100_000, 3_000_000])
          assert.equal(await statusOf(site.proxy.port, "/upload", Buffer.alloc(size)), 401, String(size));
        assert.equal(site.app.received.length, received);
      });

      // Caddy does this itself, and its automatic HTTPS is off in tests.
      if (name !== "caddy") {
        test("a plain HTTP address of the app leads to HTTPS", async () => {
          const { httpPort } = site.proxy;
          const headers = { host: "app.example.com", connection: "close" };
          const asked = request({ host: "127.0.0.1", port: httpPort, path: "/deep?a=%2F", headers }).end();
          const [answer] = await once(asked, "response");
          answer.resume();
          assert.deepEqual([answer.statusCode, answer.headers.location], [308, `${APP}/deep?a=%2F`]);
        });
      }

      test("under another port a browser without Sec-Fetch-Site logs in and out, and the app sees the port", async () => {
        const [auth, app] = ["https://auth.example.com:18443", `${APP}:18443`];
        await using site = await startSite(name, { PUBLIC_URL: auth });
        const visitor = new Visitor(site.proxy.port);
        const visit = await logInOn(await visitor.open(`${app}/deep?a=1`), visitor, auth, {});
        assert.equal(visit.url, `${app}/deep?a=1`);
        assert.equal(hostOf(echoOf(visit)), "app.example.com:18443");
        const origin = { accept: "*/*", origin: auth, "content-type": "application/x-www-form-urlencoded" };
        assert.equal(
          (await visitor.request(`${auth}/logout`, { method: "POST", headers: origin, body: "" })).status,
          303,
        );
        assert.equal((await visitor.request(`${app}/`, { headers: { accept: "*/*" } })).status, 401);
      });

      test("a login works before an app that gets another Host", async () => {
        await using site = await startSite(name, {}, OTHER_HOST[name]);
        const visitor = await loggedIn(site);
        const echo = echoOf(await visitor.request(`${APP}/`));
        assert.deepEqual([hostOf(echo), userHeaders(echo)], ["internal.test", GENUINE]);
      });

      test("authserve has a path of the app's host, and no client chooses its address there", async () => {
        const auth = `${APP}/sso`;
        await using site = await startSite(name, { PUBLIC_URL: auth, COOKIE_DOMAIN: "" }, ONE_HOST[name]);
        const visitor = new Visitor(site.proxy.port);
        const page = await visitor.open(`${APP}/deep?a=1`);
        assert.match(page.url, /^https:\/\/app\.example\.com\/sso\/login\?rd=/);
        const { headers } = await visitor.request(`${auth}/login`, {
          method: "POST",
          headers: { ...PAGE, "content-type": "application/x-www-form-urlencoded", origin: APP },
          lines: ["X-Forwarded-For", "192.0.2.99", "X-Forwarded-Prefix", "/elsewhere"],
          body: new URLSearchParams({ rd: `${APP}/deep?a=1`, email: EMAIL, password: PASSWORD }).toString(),
        });
        assert.equal(headers.location, `${APP}/deep?a=1`);
        assert.deepEqual(userHeaders(echoOf(await visitor.request(`${APP}/deep`))), GENUINE);
        // nginx adds the port that it listens on.
        assert.equal(new URL((await visitor.open(auth)).url).pathname, "/sso/");
        assert.doesNotMatch(site.server.stdout() + site.server.stderr(), /192\.0\.2\.99/);
      });

      suite("with a public path and preflights", () => {
        const site = siteOf(name, {}, PUBLIC[name]);
        const lines = ["Remote-User", "1", "Remote-Email", "mallory"];
        const program = { accept: "*/*" };

        test("a public path passes without a session, and names no user of the client", async () => {
          const visitor = new Visitor(site.proxy.port);
          const asked = { method: "POST", headers: program, lines, body: "x" };
          const echo = echoOf(await visitor.request(`${APP}/hook/x`, asked));
          assert.deepEqual(
            userHeaders(echo).filter(([, value]) => value !== ""),
            [],
          );
          assert.equal((await visitor.request(`${APP}/other`, asked)).status, 401);
        });

        test("other spellings of a path do not reach what is private", async () => {
          const { port } = site.proxy;
          for (const path of ["/hook/../private", "/hook/%2e%2e/private", "/hook/..%2fprivate", "/x/hook/"])
            assert.equal(await statusOf(port, path), 401, path);
        });

        test("a preflight reaches the app, and the request after it needs a session", async () => {
          const visitor = new Visitor(site.proxy.port);
          const headers = { ...program, origin: "https://elsewhere.test", "access-control-request-method": "PUT" };
          const preflight = await visitor.request(`${APP}/api`, { method: "OPTIONS", headers, lines });
          const echo = echoOf(preflight);
          assert.equal(echo.method, "OPTIONS");
          assert.deepEqual(
            userHeaders(echo).filter(([, value]) => value !== ""),
            [],
          );
          assert.equal((await visitor.request(`${APP}/api`, { method: "PUT", headers })).status, 401);
        });
      });
    });
  }
});

/** The status of a path that is sent as it is over HTTP/2. With a body it is a `PUT`. */
async function statusOf(port: number, path: string, body?: Buffer): Promise<number> {
  const session = connect(APP, { port, host: "127.0.0.1", servername: "app.example.com", rejectUnauthorized: false });
  try {
    const method = body ? "PUT" : "GET";
    const asked = { ":authority": "app.example.com", ":path": path, ":method": method, accept: "*/*" };
    const [answer] = await once(session.request(asked).end(body), "response");
    return Number(answer[constants.HTTP2_HEADER_STATUS]);
  } finally {
    // The rest of a body may still be on its way.
    session.on("error", () => {}).destroy();
  }
}
