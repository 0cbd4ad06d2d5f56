import assert from "node:assert/strict";
import { once } from "node:events";
import { request } from "node:http";
import { after, before, suite, test } from "node:test";
import { needsAll, needsCaddy, needsHaproxy, needsNginx } from "../../helpers/back-end.ts";
import { startProgram } from "../../helpers/command.ts";
import { type EchoApp, sha256, startEchoApp } from "../../helpers/echo-app.ts";
import { startNameServer } from "../../helpers/name-server.ts";
import { inOwnSystem, needsOwnSystem } from "../../helpers/own-system.ts";
import { APP, COOKIE, echoOf, GENUINE, logInOn, userHeaders } from "../../helpers/protected-app.ts";
import { type Server, startServer } from "../../helpers/server.ts";
import { SHIPPED_PROXIES } from "../../helpers/shipped-proxies.ts";
import { shownName } from "../../helpers/tls.ts";
import { HANG_MS, isWell, until } from "../../helpers/until.ts";
import { Visitor } from "../../helpers/visitor.ts";

type Name = keyof typeof SHIPPED_PROXIES;

const NEEDS: Record<Name, () => { skip: string | false }> = {
  nginx: needsNginx,
  caddy: needsCaddy,
  haproxy: needsHaproxy,
  SWAG: needsNginx,
  "Nginx Proxy Manager": needsNginx,
};

/** The client names itself, and what it asks for, in these. */
const FORGED = [
  ...["Remote-User", "mallory", "remote-email", "mallory", "Remote-Name", "mallory", "Remote-Groups", "mallory"],
  ...["X-Forwarded-User", "mallory", "X-WEBAUTH-USER", "mallory", "X-Authentik-Username", "mallory"],
  ...["X-Original-URL", "https://mallory.test/", "X-Forwarded-Uri", "/mallory", "X-Forwarded-Method", "OPTIONS"],
  ...["X-Original-Method", "OPTIONS", "X-Forwarded-Host", "mallory.test", "X-Forwarded-Proto", "http"],
];

const DEEP = `${APP}/a%20b/c?d=%2F&e=1+2`;

/** Runs in a system of its own. */
function walk(name: Name): void {
  const { install, program, args, auth, env: ownSettings } = SHIPPED_PROXIES[name];
  const settings = { PORT: "3000", PUBLIC_URL: auth, COOKIE_DOMAIN: "example.com", TRUSTED_PROXIES: "127.0.0.1,::1" };
  const env = { ...settings, ...ownSettings };
  const started = new AsyncDisposableStack();
  let server: Server;
  let app: EchoApp;

  before(async () => {
    install();
    started.use(await startNameServer("127.0.0.11"));
    app = started.use(await startEchoApp(8080));
    server = await startServer({ env: { ...env, JWT_TTL: "10m" } });
    const proxy = startProgram(program, args, { dir: "/", env: { HOME: "/root" } });
    // nginx also ends its workers.
    started.defer(async () => {
      proxy.child.kill("SIGTERM");
      await proxy.exited;
    });
    let ended = false;
    void proxy.exited.then(() => {
      ended = true;
    });
    await until(async () => {
      assert.ok(!ended, proxy.stdout() + proxy.stderr());
      return isWell(() => shownName(443, { servername: "app.example.com" }));
    });
  });
  after(async () => {
    await server[Symbol.asyncDispose]();
    await started.disposeAsync();
  });

  const loggedIn = async (asked = `${APP}/`) => {
    const visitor = new Visitor(443);
    return { visitor, visit: await logInOn(await visitor.open(asked, { lines: FORGED }), visitor, auth) };
  };

  test("a page needs a login, which leads back, and no client names the user", async () => {
    const sent = await new Visitor(443).request(DEEP, { lines: FORGED });
    assert.equal(sent.headers.location, `${auth}/login?rd=${encodeURIComponent(DEEP)}`);
    const { visitor, visit } = await loggedIn(DEEP);
    assert.deepEqual([visit.url, echoOf(visit).url], [DEEP, DEEP.slice(APP.length)]);
    const echo = echoOf(await visitor.request(DEEP, { lines: FORGED }));
    assert.deepEqual(userHeaders(echo), GENUINE);
    assert.doesNotMatch(JSON.stringify(echo), /mallory|OPTIONS/);
    const names = echo.headers.map(([header]) => header.toLowerCase());
    for (const header of ["host", "x-forwarded-for", "x-forwarded-proto", "x-forwarded-host", "x-real-ip"])
      assert.equal(names.filter((one) => one === header).length, 1, header);
    const program = { headers: { accept: "*/*" }, lines: FORGED };
    assert.equal((await new Visitor(443).request(DEEP, program)).status, 401);
  });

  // https://github.com/oauth2-proxy/oauth2-proxy/issues/676
  test("a login leads back to a long address", async () => {
    const asked = `${APP}/explore?${"&=/:".repeat(1000)}`;
    assert.equal((await loggedIn(asked)).visit.url, asked);
  });

  test("a body arrives whole, beside 20 KB of cookies", async () => {
    const { visitor } = await loggedIn();
    const cookie = `big=${"x".repeat(20_000)}; ${COOKIE}=${visitor.cookies.get(COOKIE)?.value}`;
    const body = Buffer.alloc(5_000_000, "0123456789");
    for (const isChunked of [false, true]) {
      const sent = { method: "POST", headers: { accept: "*/*", cookie }, body, isChunked };
      const echo = echoOf(await new Visitor(443).request(DEEP, sent));
      assert.deepEqual([echo.bodyBytes, echo.bodySha256], [body.length, sha256(body)]);
      assert.deepEqual(userHeaders(echo), GENUINE);
    }
  });

  // https://github.com/authelia/authelia/issues/5348
  test("websockets open with a session only, and no other protocol", async () => {
    const { visitor } = await loggedIn();
    const { status, socket } = await visitor.upgrade(`${APP}/live`);
    assert.equal(status, 101);
    socket?.destroy();
    const before = app.received.length;
    const other = await visitor.upgrade(`${APP}/live`, ["h2c"]);
    assert.notEqual(other.status, 101);
    assert.notEqual((await new Visitor(443).upgrade(`${APP}/live`)).status, 101);
    const passed = app.received.slice(before).flatMap(({ headers }) => headers);
    assert.deepEqual(
      passed.filter(([header]) => /^upgrade$/i.test(header)),
      [],
    );
  });

  test("the token of a program passes, and the app does not get it", async () => {
    const { stdout } = await server.run(["tokens", "create", "backup", "--scope", "verify"]);
    const pass = async (...lines: string[]) =>
      echoOf(await new Visitor(443).request(DEEP, { headers: { accept: "*/*" }, lines }));
    const own = ["X-Authserve-Token", stdout.trim(), "Authorization", "Bearer of-the-app"];
    for (const lines of [own, ["Authorization", `Bearer ${stdout.trim()}`]]) {
      const echo = await pass(...lines);
      assert.deepEqual(userHeaders(echo), [GENUINE[0], ["remotetoken", "backup"], GENUINE[1]]);
      assert.ok(!JSON.stringify(echo).includes(stdout.trim()));
    }
    assert.ok((await pass(...own)).headers.some(([, value]) => value === "Bearer of-the-app"));
  });

  test("an app that only fetches stays logged in, and keeps the headers of its host", async () => {
    const { visitor, visit } = await loggedIn();
    const first = visitor.cookies.get(COOKIE)?.value;
    await server.stop();
    server = await startServer({ dir: server.dir, env: { ...env, JWT_TTL: "1h" } });
    const fetched = await visitor.request(`${APP}/`, { headers: { accept: "*/*", "sec-fetch-mode": "cors" } });
    assert.deepEqual(userHeaders(echoOf(fetched)), GENUINE);
    assert.notEqual(visitor.cookies.get(COOKIE)?.value, first);
    assert.equal(visitor.cookies.get("of-the-app")?.value, "1");
    const hasHsts = ["SWAG", "Nginx Proxy Manager"].includes(name);
    assert.equal(/^max-age/.test(String(visit.headers["strict-transport-security"])), hasHsts);
  });

  test("plain HTTP leads to HTTPS", async () => {
    const headers = { host: "app.example.com", connection: "close" };
    const [answer] = await once(request({ host: "127.0.0.1", path: "/a?b=%2F", headers }).end(), "response");
    answer.resume();
    assert.ok([301, 308].includes(answer.statusCode));
    assert.equal(answer.headers.location, `${APP}/a?b=%2F`);
  });
}

const inside = process.env.PROXY_NAME;
if (inside !== undefined) walk(inside as Name);
else {
  suite("the files of a proxy run as they are", { concurrency: 2 }, () => {
    for (const [name, needsProxy] of Object.entries(NEEDS)) {
      test(`with ${name}`, needsAll(needsProxy(), needsOwnSystem()), async () => {
        const env = { PROXY_NAME: name, HOME: "/root", AUTHSERVE: process.env.AUTHSERVE };
        const args = [...process.execArgv.filter((arg) => !arg.startsWith("--test")), import.meta.filename];
        // The tests in it have deadlines of their own.
        const options = { dir: process.cwd(), env, timeoutMs: 4 * HANG_MS };
        const { code, stdout, stderr } = await inOwnSystem(process.execPath, args, options);
        assert.equal(code, 0, stdout + stderr);
      });
    }
  });
}
