import assert from "node:assert/strict";
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { text as readText } from "node:stream/consumers";
import { after, before, suite, test } from "node:test";
import { openDatabase } from "../../src/sqlite/database.ts";
import { checkAnswer } from "../helpers/check-answer.ts";
import { ask, logIn, me } from "../helpers/client.ts";
import { EMAIL, PASSWORD } from "../helpers/credentials.ts";
import { request } from "../helpers/raw-http.ts";
import { type Server, startServer } from "../helpers/server.ts";
import { claimsOf, forge, HEADER } from "../helpers/sign.ts";
import { until } from "../helpers/until.ts";

const HTML = { accept: "text/html,application/xhtml+xml,*/*;q=0.8", "sec-fetch-mode": "navigate" };

interface Options {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}

/**
 * Requests a path as a browser does, without following redirects. `fetch` would say in `Sec-Fetch-Mode` that it is no
 * page.
 */
async function open(server: Server, path: string, { headers = {}, method = "GET", body = "" }: Options = {}) {
  const request = httpRequest(server.url + path, { method, headers: { ...HTML, ...headers } });
  request.end(body);
  const [response] = (await once(request, "response")) as [IncomingMessage];
  const text = await readText(response);
  const contentType = response.headers["content-type"] ?? "";
  await checkAnswer(server.url, { method, target: path, status: response.statusCode ?? 0, contentType, text });
  const setCookie = response.headers["set-cookie"]?.[0] ?? null;
  return {
    status: response.statusCode ?? 0,
    text,
    headers: new Headers(response.headers as Record<string, string>),
    location: response.headers.location ?? null,
    cookie: setCookie?.split(";")[0] ?? null,
    setCookie,
    setCookies: response.headers["set-cookie"] ?? [],
  };
}

function send(server: Server, path: string, fields: Record<string, string>, headers: Record<string, string> = {}) {
  const body = new URLSearchParams(fields).toString();
  const form = { "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin" };
  return open(server, path, { method: "POST", body, headers: { ...form, ...headers } });
}

const CREDENTIALS = { email: EMAIL, password: PASSWORD };

async function startShared(env: Record<string, string>): Promise<Server> {
  const shared = await startServer({ env });
  after(() => shared[Symbol.asyncDispose]());
  return shared;
}

const PUBLIC = { PUBLIC_URL: "https://auth.example.com" };
// With REDIRECT_ORIGINS nothing changes for the other tests.
const server = await startShared({ REDIRECT_ORIGINS: "https://app.example.net" });
const named = await startShared(PUBLIC);
const behindProxy = await startShared({ ...PUBLIC, TRUSTED_PROXIES: "127.0.0.1", COOKIE_DOMAIN: "example.com" });

/** Logs in on the page. Returns the cookie. */
async function logInOnPage(server: Server, rd = "/"): Promise<string> {
  const { status, cookie } = await send(server, "/login", { ...CREDENTIALS, rd });
  assert.equal(status, 303);
  assert.ok(cookie);
  return cookie;
}

suite("the login page", () => {
  test("logs in with a form, shows who is logged in, and logs out", async () => {
    const page = await open(server, "/login?rd=%2Fauth%2Fme");
    assert.equal(page.status, 200);
    assert.equal(page.headers.get("content-type"), "text/html; charset=utf-8");
    assert.match(page.text, /<input type="hidden" name="rd" value="\/auth\/me">/);
    for (const part of [
      'autocomplete="username"',
      'autocomplete="current-password"',
      'method="post"',
      '<label for="email">',
    ])
      assert.ok(page.text.includes(part), part);
    assert.ok(Buffer.byteLength(page.text) < 20_000);

    const answer = await send(server, "/login", { ...CREDENTIALS, rd: "/auth/me" });
    assert.deepEqual([answer.status, answer.location], [303, "/auth/me"]);
    assert.match(String(answer.setCookie), /^authserve=[^;]+; Max-Age=900; Path=\/; HttpOnly; SameSite=Lax$/);
    const headers = { cookie: String(answer.cookie) };
    const whoami = await open(server, "/auth/me", { headers });
    assert.deepEqual([whoami.status, JSON.parse(whoami.text)], [200, { userId: "1", email: EMAIL }]);
    const home = await open(server, "/", { headers });
    assert.equal(home.status, 200);
    assert.ok(home.text.includes(EMAIL));
    assert.equal((await open(server, "/login?rd=%2Fx", { headers })).location, "/x");

    const out = await send(server, "/logout", {}, headers);
    assert.deepEqual([out.status, out.location], [303, "/login"]);
    assert.match(String(out.setCookie), /^authserve=; Max-Age=0; /);
    assert.equal((await open(server, "/auth/me", { headers })).status, 401);
    assert.equal((await open(server, "/", { headers })).location, "/login");
  });

  test("has a strict policy, which names the target of the form", async () => {
    const policyOf = async (rd: string) =>
      String((await open(server, `/login?rd=${encodeURIComponent(rd)}`)).headers.get("content-security-policy"));
    const own = await policyOf("/");
    for (const part of ["default-src 'none'", "base-uri 'none'", "frame-ancestors 'none'", "form-action 'self'"])
      assert.ok(own.includes(part), part);
    assert.doesNotMatch(own, /unsafe|form-action 'self' /);
    assert.match(await policyOf("https://app.example.net/x"), /form-action 'self' https:\/\/app\.example\.net;/);
    assert.doesNotMatch(await policyOf("https://evil.test/"), /evil/);
  });

  test("refuses wrong credentials with the page, and keeps the e-mail", async () => {
    const wrong = await send(server, "/login", { email: EMAIL, password: "wrong password", rd: "/x" });
    assert.equal(wrong.status, 401);
    assert.equal(wrong.cookie, null);
    assert.match(wrong.text, /role="alert"[^>]*>Credenciales inválidas</);
    assert.ok(wrong.text.includes(`value="${EMAIL}"`));
    assert.match(wrong.text, /name="rd" value="\/x"/);
    assert.doesNotMatch(wrong.text, /wrong password"/);
    const unknown = await send(server, "/login", { email: "other@example.com", password: "wrong password", rd: "/x" });
    assert.equal(unknown.text.replaceAll("other@example.com", EMAIL), wrong.text);
    for (const fields of [{ email: "no", password: PASSWORD }, { email: EMAIL, password: "short" }, {}])
      assert.equal((await send(server, "/login", fields as Record<string, string>)).status, 400);
    assert.equal((await open(server, "/login", { method: "POST", body: "{}" })).status, 415);
  });

  test("opens a session that lasts no longer than SESSION_MAX_AGE", async () => {
    await using server = await startServer({ env: { JWT_TTL: "2h", SESSION_MAX_AGE: "1h" } });
    const { setCookie } = await send(server, "/login", CREDENTIALS);
    assert.match(String(setCookie), /; Max-Age=3600;/);
    const { iat, exp } = claimsOf(/=([^;]*)/.exec(String(setCookie))?.[1] ?? "");
    assert.equal(exp - iat, 3600);
    assert.match(
      server
        .log("setting_warning")
        .map(({ message }) => message)
        .join(),
      /JWT_TTL is longer than/,
    );
    const ofApi = claimsOf(await logIn(server));
    assert.equal(ofApi.exp - ofApi.iat, 7200);
  });

  test("keeps a login that asks for it for KEEP_LOGGED_IN, whether it is used or not", async () => {
    await using other = await startServer({ env: { JWT_TTL: "15m", KEEP_LOGGED_IN: "2d" } });
    const lengthOf = async (at: Server, more: Record<string, string>) => {
      const { setCookie } = await send(at, "/login", { ...CREDENTIALS, ...more });
      const { iat, exp } = claimsOf(/=([^;]*)/.exec(String(setCookie))?.[1] ?? "");
      return [/; Max-Age=(\d+);/.exec(String(setCookie))?.[1], exp - iat];
    };
    assert.deepEqual(await lengthOf(other, { keep: "1" }), ["172800", 172_800]);
    assert.deepEqual(await lengthOf(other, {}), ["900", 900]);
    assert.deepEqual(await lengthOf(server, { keep: "1" }), ["2592000", 2_592_000]);
    await using never = await startServer({ env: { JWT_TTL: "15m", KEEP_LOGGED_IN: "off" } });
    assert.deepEqual(await lengthOf(never, { keep: "1" }), ["900", 900]);
    assert.match((await open(other, "/login")).text, /<input name="keep" type="checkbox"/);
    assert.doesNotMatch((await open(never, "/login")).text, /keep/);
    const again = await send(other, "/login", { email: EMAIL, password: "wrong password", keep: "1" });
    assert.match(again.text, /<input name="keep" type="checkbox" value="1" checked>/);
  });

  test("shares the throttle with the API", async () => {
    await using server = await startServer();
    const statuses: number[] = [];
    for (let n = 0; n < 12; n++)
      statuses.push((await send(server, "/login", { email: EMAIL, password: `wrong ${n}!` })).status);
    assert.deepEqual(statuses.slice(-2), [429, 429]);
    const refused = await send(server, "/login", { ...CREDENTIALS });
    assert.equal(refused.status, 429);
    assert.match(String(refused.headers.get("retry-after")), /^[1-9][0-9]*$/);
    assert.match(refused.text, /role="alert"/);
  });

  test("a browser that has logged in can do so from anywhere while others guess, until its mark is revoked", async () => {
    const env = { PUBLIC_URL: "https://auth.example.com", TRUSTED_PROXIES: "127.0.0.1" };
    await using server = await startServer({ env });
    const from = (address: string) => ({ "x-forwarded-for": address });
    const first = await send(server, "/login", CREDENTIALS, from("203.0.113.1"));
    const [, mark = ""] = first.setCookies;
    assert.match(mark, /^__Host-authserve-browser=[^;]+; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax; Secure$/);
    const cookie = String(mark.split(";")[0]);
    for (let n = 0; n < 100; n++)
      await send(server, "/login", { email: EMAIL, password: `wrong ${n}!` }, from(`198.51.100.${Math.floor(n / 10)}`));
    const elsewhere = from("198.51.100.1");
    const attempt = async (headers: Record<string, string>) =>
      (await send(server, "/login", CREDENTIALS, { ...elsewhere, ...headers })).status;
    assert.equal(await attempt({}), 429);
    assert.equal(await attempt({ cookie: cookie.replace(/[^.]+$/, "A".repeat(43)) }), 429);
    assert.equal(await attempt({ cookie: `__Host-authserve-browser=x; ${cookie}` }), 303);
    const forgotten = await server.run(["throttle", "forget-browsers", "--json"]);
    assert.deepEqual([forgotten.code, JSON.parse(forgotten.stdout)], [0, { forgotten: true }]);
    assert.equal(JSON.parse(forgotten.stderr).event, "browsers_forgotten");
    assert.equal(await attempt({ cookie }), 429);
  });

  test("escapes what it shows", async () => {
    const email = `"><script>alert(1)</script>@example.com`;
    const page = await send(server, "/login", { email, password: PASSWORD, rd: `/"><img src=x>` });
    assert.equal(page.status, 400);
    assert.doesNotMatch(page.text, /<script>alert|<img/);
  });

  test("is in the language of the browser", async () => {
    for (const [languages, lang] of [
      ["en-US,en;q=0.9", "en"],
      ["es-MX,es;q=0.9,en;q=0.8", "es"],
      ["de,en;q=0.5,es;q=0.3", "en"],
      ["fr", "es"],
      ["", "es"],
    ] as const) {
      const { text } = await open(server, "/login", { headers: { "accept-language": languages } });
      assert.ok(text.includes(`<html lang="${lang}">`), languages);
    }
  });

  test("tells a superseded user who replaced the session", async () => {
    const cookie = await logInOnPage(server);
    await send(server, "/login", CREDENTIALS, { "user-agent": "Mozilla/5.0 Gecko/20100101 Firefox/140.0" });
    const page = await open(server, "/login", { headers: { cookie, "accept-language": "en" } });
    assert.equal(page.status, 200);
    assert.match(page.text, /role="status">[^<]*Firefox, from the network 127\.0\.0\.0\/24/);
  });

  test("has one session with the API: a login on either side ends the other", async () => {
    const token = await logIn(server);
    const cookie = await logInOnPage(server);
    assert.equal((await me(server, token)).status, 401);
    await logIn(server);
    assert.equal((await open(server, "/auth/me", { headers: { cookie } })).status, 401);
  });

  test("is not there without PUBLIC_URL on a server that listens beyond loopback", async () => {
    await using server = await startServer({ env: { HOST: "0.0.0.0" } });
    for (const path of ["/", "/login", "/auth/verify"]) assert.equal((await open(server, path)).status, 404);
    const token = await logIn(server);
    assert.equal((await open(server, "/auth/me", { headers: { cookie: `authserve=${token}` } })).status, 401);
  });

  test("uses a cookie that only this host can set on HTTPS, and a shared one with COOKIE_DOMAIN", async () => {
    assert.match(String((await send(named, "/login", CREDENTIALS)).setCookie), /^__Host-authserve=[^;]+; .*; Secure$/);
    const { setCookie } = await send(behindProxy, "/login", CREDENTIALS);
    assert.match(String(setCookie), /^__Secure-authserve=[^;]+; .*; Secure; Domain=example\.com$/);
  });
});

suite("a login under another address than PUBLIC_URL", () => {
  const at = (host: string, proto = "https") => ({
    host,
    "x-forwarded-host": host,
    "x-forwarded-proto": proto,
    "accept-language": "en",
  });

  for (const [what, headers] of [
    ["another name", at("nas.lan")],
    ["an address", at("192.0.2.7:3000")],
    ["http", at("auth.example.com", "http")],
  ] as const) {
    test(`as ${what} is sent to PUBLIC_URL, once`, async () => {
      const { status, location } = await open(behindProxy, "/login?rd=%2Fx%3Fy", { headers });
      assert.deepEqual([status, location], [303, "https://auth.example.com/login?rd=%2Fx%3Fy&moved=1"]);
      const path = String(location).slice(PUBLIC.PUBLIC_URL.length);
      const page = await open(behindProxy, path, { headers });
      assert.equal(page.status, 200);
      assert.match(page.text, /name="rd" value="\/x\?y"/);
    });
  }

  test("as the name of an app within COOKIE_DOMAIN is sent to PUBLIC_URL, also with a session", async () => {
    const cookie = await logInOnPage(behindProxy);
    for (const headers of [at("app.example.com"), { ...at("app.example.com"), cookie }]) {
      const { status, location } = await open(behindProxy, "/login?rd=%2Fx%3Fy", { headers });
      assert.deepEqual([status, location], [303, "https://auth.example.com/login?rd=%2Fx%3Fy&moved=1"]);
    }
  });

  test("as a name of ALLOWED_HOSTS within COOKIE_DOMAIN works there", async () => {
    const host = "login.example.com";
    const env = { ...PUBLIC, TRUSTED_PROXIES: "127.0.0.1", COOKIE_DOMAIN: "example.com", ALLOWED_HOSTS: host };
    await using allowed = await startServer({ env });
    assert.equal((await open(allowed, "/login", { headers: at(host) })).status, 200);
    const login = await send(allowed, "/login", CREDENTIALS, { ...at(host), origin: `https://${host}` });
    assert.equal(login.status, 303);
  });

  test("is not there for a proxy that is not trusted", async () => {
    assert.equal((await open(named, "/login", { headers: at("auth.example.com") })).status, 200);
  });

  test("ends no session, sets no cookie and says where to go", async () => {
    const live = await logInOnPage(behindProxy);
    for (const origin of ["http://127.0.0.1:3000", "http://auth.example.com"]) {
      const headers = { origin, "accept-language": "en" };
      const { status, cookie, text } = await send(behindProxy, "/login", { ...CREDENTIALS, rd: "/x" }, headers);
      assert.deepEqual([status, cookie], [400, null]);
      assert.doesNotMatch(text, /<input[^>]* aria-invalid/);
      assert.match(
        text,
        /role="alert".*would not keep the session.*href="https:\/\/auth\.example\.com\/login\?rd=%2Fx"/,
      );
    }
    assert.equal((await open(behindProxy, "/auth/me", { headers: { cookie: live } })).status, 200);
    assert.match((await behindProxy.logged("login_elsewhere")).message, /open https:\/\/auth\.example\.com\/login$/);
    for (const origin of [PUBLIC.PUBLIC_URL, "null"])
      assert.equal((await send(behindProxy, "/login", CREDENTIALS, { origin })).status, 303);
  });
});

/** Of a browser that sends no `Sec-Fetch-Site`, as they do over plain HTTP. */
function sendFromOld(server: Server, path: string, fields: Record<string, string>, headers: Record<string, string>) {
  const body = new URLSearchParams(fields).toString();
  const form = { "content-type": "application/x-www-form-urlencoded" };
  return open(server, path, { method: "POST", body, headers: { ...form, ...headers } });
}

test("a page of the own host without TLS logs nobody in or out", async () => {
  const host = "auth.example.com";
  const cookie = await logInOnPage(behindProxy);
  const headers = { host, origin: `http://${host}`, cookie, "accept-language": "en" };
  assert.equal((await sendFromOld(behindProxy, "/logout", {}, headers)).status, 403);
  const login = await sendFromOld(behindProxy, "/login", CREDENTIALS, headers);
  assert.deepEqual([login.status, login.setCookies], [400, []]);
  assert.match(login.text, /would not keep the session/);
  const removed = await open(behindProxy, "/auth/logout", { method: "POST", headers });
  assert.equal(removed.status, 403);
  assert.equal((await open(behindProxy, "/auth/me", { headers: { cookie } })).status, 200);
  assert.equal((await sendFromOld(behindProxy, "/logout", {}, { ...headers, origin: `https://${host}` })).status, 303);
});

suite("logging out", () => {
  const SIBLING_APP = { "sec-fetch-site": "same-site", origin: "https://wiki.example.com:8443" };

  test("by the link of an app shows a button, and does nothing by itself", async () => {
    const cookie = await logInOnPage(behindProxy);
    const page = await open(behindProxy, "/logout", { headers: { cookie, "accept-language": "en" } });
    assert.equal(page.status, 200);
    assert.match(page.text, /<form method="post" action="logout">\s*<button[^>]*>Log out</);
    assert.equal((await open(behindProxy, "/auth/me", { headers: { cookie } })).status, 200);
    assert.equal((await send(behindProxy, "/logout", {}, { cookie })).status, 303);
    const after = await open(behindProxy, "/logout", { headers: { cookie } });
    assert.deepEqual([after.status, after.location], [303, "/login"]);
  });

  test("leads to an address that a login may lead to, and else to the login page", async () => {
    const RD = "https://wiki.example.com/bye?a=b&c";
    const at = `/logout?rd=${encodeURIComponent(RD)}`;
    const cookie = await logInOnPage(behindProxy);
    const page = await open(behindProxy, at, { headers: { cookie } });
    assert.match(page.text, /<input type="hidden" name="rd" value="https:\/\/wiki\.example\.com\/bye\?a=b&amp;c">/);
    assert.match(
      String(page.headers.get("content-security-policy")),
      /form-action 'self' https:\/\/wiki\.example\.com;/,
    );
    const evil = await open(behindProxy, "/logout?rd=https://evil.test/", { headers: { cookie } });
    assert.ok(!evil.text.includes("evil.test"));
    assert.ok(!String(evil.headers.get("content-security-policy")).includes("evil.test"));
    const refused = await send(behindProxy, "/logout", { rd: "https://evil.test/" }, { cookie });
    assert.deepEqual([refused.status, refused.location], [303, "/login"]);
    const again = await logInOnPage(behindProxy);
    const out = await send(behindProxy, "/logout", { rd: RD }, { ...SIBLING_APP, cookie: again });
    assert.deepEqual([out.status, out.location], [303, RD]);
    assert.equal((await open(behindProxy, "/auth/me", { headers: { cookie: again } })).status, 401);
    const without = await open(behindProxy, at);
    assert.deepEqual([without.status, without.location], [303, RD]);
  });

  test("by the form of an app works within COOKIE_DOMAIN only", async () => {
    const cookie = await logInOnPage(behindProxy);
    for (const origin of ["https://evil.test", "http://wiki.example.com", "https://example.com.evil.test", "null"]) {
      const refused = await send(behindProxy, "/logout", {}, { ...SIBLING_APP, origin, cookie });
      assert.equal(refused.status, 403, origin);
    }
    const login = await send(behindProxy, "/login", CREDENTIALS, SIBLING_APP);
    assert.equal(login.status, 403);
    const out = await send(behindProxy, "/logout", {}, { ...SIBLING_APP, cookie });
    assert.deepEqual([out.status, out.location], [303, "/login"]);
    assert.equal((await open(behindProxy, "/auth/me", { headers: { cookie } })).status, 401);
  });
});

test("a frame gets a link that leaves it, and only an app's page may frame it", async () => {
  const headers = { "sec-fetch-dest": "iframe", "x-forwarded-host": "auth.example.com", "x-forwarded-proto": "https" };
  for (const [path, link] of [
    [
      "/login?rd=https%3A%2F%2Fwiki.example.com%2F",
      "https://auth.example.com/login?rd=https%3A%2F%2Fwiki.example.com%2F",
    ],
    ["/logout", "https://auth.example.com/logout"],
  ] as const) {
    const page = await open(behindProxy, path, { headers });
    assert.equal(page.status, 200);
    assert.ok(page.text.includes(`<a class="button" href="${link}" target="_top">`));
    assert.doesNotMatch(page.text, /<form|<input|<script/);
    const policy = String(page.headers.get("content-security-policy"));
    assert.match(
      policy,
      /frame-ancestors https:\/\/auth\.example\.com https:\/\/example\.com:\* https:\/\/\*\.example\.com:\*$/,
    );
    assert.equal(page.headers.get("x-frame-options"), null);
  }
});

suite("requests from other sites", () => {
  const CROSS = { "sec-fetch-site": "cross-site", origin: "https://evil.test" };
  const SIBLING = { "sec-fetch-site": "same-site", origin: "https://wiki.example.com" };
  const HIDDEN = { "sec-fetch-site": "cross-site", origin: "null" };

  test("cannot log in, log out or end the session", async () => {
    const cookie = await logInOnPage(server);
    for (const from of [CROSS, SIBLING, HIDDEN]) {
      for (const [path, fields] of [
        ["/login", CREDENTIALS],
        ["/logout", {}],
      ] as const) {
        const answer = await send(server, path, fields as Record<string, string>, { ...from, cookie });
        assert.equal(answer.status, 403, path);
        assert.equal(JSON.parse(answer.text).code, "cross_site_request");
        assert.equal(answer.cookie, null);
      }
      const logout = await ask(server, "/auth/logout", { method: "POST", headers: { ...from, cookie } });
      assert.equal(logout.status, 403);
    }
    assert.equal((await open(server, "/auth/me", { headers: { cookie } })).status, 200);
  });

  test("a cookie that another subdomain adds neither fixes nor replaces the session", async () => {
    const cookie = await logInOnPage(server);
    const five = "authserve=a.b.c; ".repeat(5);
    for (const header of [`authserve=x; ${cookie}`, `${cookie}; authserve=a.b.c`, `${five}${cookie}`])
      assert.equal((await open(server, "/auth/me", { headers: { cookie: header } })).status, 200);
  });

  test("a token of this service counts alone, and any other Authorization leaves the decision to the cookie", async () => {
    const cookie = await logInOnPage(server);
    const { iat, ...claims } = claimsOf(cookie.slice(cookie.indexOf("=") + 1));
    const expired = forge(HEADER, { ...claims, iat: iat - 3600, exp: iat - 1 });
    const superseded = forge(HEADER, { ...claims, iat, sid: "form-another" });
    const foreign = forge(HEADER, { ...claims, iat }, { secret: "a secret of the app, 32 bytes or more" });
    for (const path of ["/auth/me", "/auth/verify"]) {
      const statusOf = async (authorization: string, sent = cookie) =>
        (await open(server, path, { headers: { cookie: sent, authorization, accept: "*/*" } })).status;
      for (const others of [
        "Bearer x",
        "Bearer app.own.token",
        "bearer a b",
        "Basic eDp5",
        "Token x",
        `Bearer ${foreign}`,
      ]) {
        assert.equal(await statusOf(others), 200, others);
        assert.equal(await statusOf(others, "x=y"), 401, others);
      }
      for (const own of [expired, superseded]) assert.equal(await statusOf(`Bearer ${own}`), 401);
    }
  });

  test("the cookie is held to its rules also beside the Authorization of an app", async () => {
    const headers = { cookie: await logInOnPage(server), authorization: "Bearer app-own-token" };
    const logout = (more: Record<string, string>) =>
      ask(server, "/auth/logout", { method: "POST", headers: { ...headers, ...more } });
    assert.equal((await logout(CROSS)).status, 403);
    assert.equal((await logout({ "sec-fetch-site": "same-origin" })).status, 200);
  });

  test("may call /auth from an origin in CORS_ALLOWED_ORIGINS only", async () => {
    const origin = "https://app.example.net";
    await using server = await startServer({ env: { CORS_ALLOWED_ORIGINS: origin } });
    const preflight = (from: string) =>
      fetch(`${server.url}/auth/me`, {
        method: "OPTIONS",
        headers: {
          origin: from,
          "access-control-request-method": "GET",
          "access-control-request-headers": "authorization",
        },
      });
    const allowed = await preflight(origin);
    assert.equal(allowed.status, 200);
    assert.equal(allowed.headers.get("access-control-allow-origin"), origin);
    assert.equal(allowed.headers.get("access-control-allow-credentials"), "true");
    for (const other of ["https://evil.test", "null", "https://app.example.net.evil.test", "http://app.example.net"]) {
      const refused = await preflight(other);
      assert.equal(refused.status, 405);
      assert.equal(refused.headers.get("access-control-allow-origin"), null);
    }
    const cookie = await logInOnPage(server);
    const headers = { origin, "sec-fetch-site": "cross-site", cookie };
    const who = await open(server, "/auth/me", { headers });
    assert.deepEqual([who.status, who.headers.get("access-control-allow-origin")], [200, origin]);
    const failed = await open(server, "/auth/me", { headers: { origin } });
    assert.deepEqual([failed.status, failed.headers.get("access-control-allow-origin")], [401, origin]);
    const logout = await ask(server, "/auth/logout", { method: "POST", headers });
    assert.equal(logout.status, 200);
  });
});

suite("/auth/verify", () => {
  const ORIGINAL = {
    "x-forwarded-proto": "https",
    "x-forwarded-host": "wiki.example.com",
    "x-forwarded-uri": "/a?b=c&d=e",
  };
  const RD = `https://auth.example.com/login?rd=${encodeURIComponent("https://wiki.example.com/a?b=c&d=e")}`;

  test("answers 200 with the user while the session lives, for any method", async () => {
    const cookie = await logInOnPage(behindProxy);
    for (const method of ["GET", "HEAD", "POST", "PUT", "DELETE", "PROPFIND"]) {
      const { status, text, headers } = await open(behindProxy, "/auth/verify", { method, headers: { cookie } });
      assert.deepEqual([status, text], [200, ""], method);
      assert.deepEqual([headers.get("remote-user"), headers.get("remote-email")], ["1", EMAIL]);
    }
    const token = await logIn(behindProxy);
    const bearer = await open(behindProxy, "/auth/verify", { headers: { authorization: `Bearer ${token}` } });
    assert.equal(bearer.status, 200);
  });

  test("sends a browser that opens a page to the login page, and back to the page it asked for", async () => {
    const nginx = await open(behindProxy, "/auth/verify", {
      headers: { "x-original-url": "https://wiki.example.com/a?b=c&d=e" },
    });
    assert.deepEqual([nginx.status, nginx.location], [401, RD]);
    assert.equal(nginx.headers.get("remote-user"), "");
    const caddy = await open(behindProxy, "/auth/verify/redirect", { headers: ORIGINAL });
    assert.deepEqual([caddy.status, caddy.location], [302, RD]);
    const posted = await open(behindProxy, "/auth/verify/redirect", {
      headers: { ...ORIGINAL, "x-forwarded-method": "POST" },
    });
    assert.equal(posted.status, 303);
    const answer = await send(behindProxy, "/login", {
      ...CREDENTIALS,
      rd: String(new URL(RD).searchParams.get("rd")),
    });
    assert.equal(answer.location, "https://wiki.example.com/a?b=c&d=e");
  });

  for (const [what, headers, url] of [
    [
      "says http behind one that does TLS",
      { ...ORIGINAL, "x-forwarded-proto": "http" },
      "https://wiki.example.com/a?b=c&d=e",
    ],
    [
      "adds to what another one said",
      { ...ORIGINAL, "x-forwarded-proto": "https,http" },
      "https://wiki.example.com/a?b=c&d=e",
    ],
    ["names the port", { "x-original-url": "https://wiki.example.com:443/a" }, "https://wiki.example.com/a"],
  ] as const) {
    test(`leads back to the page also if a proxy ${what}`, async () => {
      const { location } = await open(behindProxy, "/auth/verify/redirect", { headers });
      const rd = String(new URL(String(location)).searchParams.get("rd"));
      assert.equal((await send(behindProxy, "/login", { ...CREDENTIALS, rd })).location, url);
    });
  }

  test("tells the user, and the operator, that a login cannot lead back", async () => {
    for (const [rd, reason, shown] of [
      [
        "https://other.example.net/x",
        "origin_not_allowed",
        /no way back to https:\/\/other\.example\.net: .*\n?.*REDIRECT_ORIGINS/,
      ],
      ["https:///x", "no_host", /address is not valid/],
      ["https://evil.test\\x", "malformed", /address is not valid/],
    ] as const) {
      const headers = { "accept-language": "en", "x-forwarded-host": "auth.example.com", "x-forwarded-proto": "https" };
      const page = await open(behindProxy, `/login?rd=${encodeURIComponent(rd)}`, { headers });
      assert.match(page.text, shown);
      const line = await until(() => behindProxy.log("redirect_refused").find((one) => one.reason === reason));
      assert.ok(line.message.includes(reason === "origin_not_allowed" ? "REDIRECT_ORIGINS" : "proxy"));
      const cookie = await logInOnPage(behindProxy, rd);
      for (const path of ["/login", "/login/renew"]) {
        const target = `${path}?rd=${encodeURIComponent(rd)}`;
        const there = await open(behindProxy, target, { headers: { ...headers, cookie } });
        assert.equal(there.status, 200);
        assert.match(there.text, shown);
        assert.match(there.text, /<a class="button" href="\/">/);
      }
    }
  });

  test("tells the operator once that a proxy does not say which page it asks about", async () => {
    await using server = await startServer({ env: { ...PUBLIC, TRUSTED_PROXIES: "127.0.0.1" } });
    for (let n = 0; n < 2; n++) assert.equal((await open(server, "/auth/verify")).status, 401);
    await server.logged("original_url_unknown");
    const lines = server.log("original_url_unknown").map(({ message }) => message);
    assert.equal(lines.length, 1);
    assert.match(String(lines[0]), /TRUSTED_PROXIES.*X-Original-URL/);
  });

  test("tells the operator once that a proxy asks about authserve itself", async () => {
    await using server = await startServer({ env: { ...PUBLIC, TRUSTED_PROXIES: "127.0.0.1" } });
    const headers = { ...ORIGINAL, "x-forwarded-host": "auth.example.com", "x-forwarded-uri": "/auth/verify" };
    for (let n = 0; n < 2; n++) assert.equal((await open(server, "/auth/verify", { headers })).status, 401);
    await server.logged("original_url_own");
    assert.equal(server.log("original_url_own").length, 1);
    assert.deepEqual(server.log("original_url_unknown"), []);
  });

  // https://github.com/envoyproxy/gateway/issues/5783: Envoy appends the path, and sends Host and the method.
  test("is asked by Envoy below its own path, which names the request", async () => {
    const cookie = await logInOnPage(behindProxy);
    const ask = (path: string, lines: string[] = [], method = "GET") =>
      request(behindProxy.port, {
        method,
        target: `/auth/verify/redirect${path}`,
        host: "wiki.example.com",
        lines: ["Accept: text/html", ...lines],
      });
    for (const path of ["/a?b=c&d=e", "/", "//a/../b", "/a/%2e%2e/b;x", "/?rd=/auth/verify/redirect/x"]) {
      const lines = ["X-Forwarded-Proto: https", "X-Original-URL: https://open.example.com/"];
      assert.equal((await ask(path, [...lines, `Cookie: ${cookie}`])).status, 200, path);
      const login = await ask(path, lines);
      const rd = encodeURIComponent(`https://wiki.example.com${path}`);
      assert.deepEqual([login.status, login.headers.location], [302, `https://auth.example.com/login?rd=${rd}`]);
    }
    assert.equal((await ask("/a", ["Content-Length: 0"], "POST")).status, 303);
    // Nothing else of this server answers below that path, which would let a request pass.
    for (const path of ["/../../../healthz", "/../../../login", "/%2e%2e/%2e%2e/%2e%2e/healthz", "/..;/healthz"])
      assert.equal((await ask(path)).status, 302, path);
    assert.equal((await ask("x")).status, 404);
    const odd = { target: "/auth/verify/redirect/b", lines: ["Accept: text/html"] };
    for (const host of ["wiki.example.com/a?", "a@wiki.example.com", "wiki.example.com#"]) {
      const answer = await request(behindProxy.port, { ...odd, host });
      assert.ok(answer.status === 400 || answer.headers.location === "https://auth.example.com/login", host);
    }
    const stranger = await open(named, "/auth/verify/redirect/a");
    assert.deepEqual([stranger.status, stranger.location], [302, "https://auth.example.com/login"]);
  });

  test("answers 401 to programs, without a redirect", async () => {
    for (const headers of [
      { accept: "application/json" },
      { "x-requested-with": "XMLHttpRequest" },
      { "sec-fetch-mode": "cors" },
    ]) {
      for (const path of ["/auth/verify", "/auth/verify/redirect"]) {
        const answer = await open(behindProxy, path, {
          headers: { ...ORIGINAL, ...headers } as Record<string, string>,
        });
        assert.deepEqual([answer.status, answer.location], [401, null], JSON.stringify(headers));
        assert.match(String(answer.headers.get("www-authenticate")), /^Bearer/);
      }
    }
  });

  test("believes the original URL of trusted proxies only", async () => {
    const headers = { ...ORIGINAL, "x-original-url": "https://evil.test/" };
    const answer = await open(named, "/auth/verify", { headers });
    assert.deepEqual([answer.status, answer.location], [401, "https://auth.example.com/login"]);
  });

  test("lets nobody through because of a user agent, a path or a method", async () => {
    for (const headers of [
      { "user-agent": "kube-probe/1.30" },
      { "user-agent": "GoogleHC/1.0" },
      { "x-forwarded-uri": "/healthz" },
      { "x-forwarded-method": "OPTIONS" },
      { "remote-user": "1" },
    ])
      assert.equal(
        (await open(behindProxy, "/auth/verify", { headers: { ...ORIGINAL, ...headers } as Record<string, string> }))
          .status,
        401,
      );
  });
});

suite("renewal", () => {
  const TTL_SECONDS = 3600;
  const original = { "x-original-url": "https://auth.example.com/app" };
  let renewing: Server;

  before(async () => {
    renewing = await startServer({
      env: { ...PUBLIC, JWT_TTL: "1h", SESSION_MAX_AGE: "10h", TRUSTED_PROXIES: "127.0.0.1" },
    });
  });
  after(() => renewing[Symbol.asyncDispose]());

  const tokenOf = (cookie: string) => cookie.slice(cookie.indexOf("=") + 1);

  /** The cookie of a session as it would be if the login had been longer ago. */
  function agedBy(seconds: number, cookie: string): string {
    const claims = claimsOf(tokenOf(cookie));
    const token = forge(HEADER, { ...claims, iat: claims.iat - seconds, exp: claims.exp - seconds });
    return cookie.replace(tokenOf(cookie), token);
  }

  /** Logs in, and makes the session older. */
  async function logInBefore(seconds: number): Promise<string> {
    const cookie = await logInOnPage(renewing);
    ageSession(seconds);
    return agedBy(seconds, cookie);
  }

  function ageSession(seconds: number): void {
    const database = openDatabase(String(renewing.env.DATA_DIR));
    database.prepare("UPDATE sessions SET expires_at = expires_at - ?").run(seconds * 1000);
    database.close();
  }

  test("a browser that goes on is sent over the renewal and keeps its session", async () => {
    const verify = (used: string) =>
      open(renewing, "/auth/verify/redirect", { headers: { ...original, cookie: used } });
    assert.equal((await verify(await logInOnPage(renewing))).status, 200);
    const cookie = await logInBefore(0.8 * TTL_SECONDS);
    const due = await verify(cookie);
    assert.deepEqual(
      [due.status, due.location],
      [302, `https://auth.example.com/login/renew?rd=${encodeURIComponent(original["x-original-url"])}`],
    );
    const path = String(due.location).slice("https://auth.example.com".length);
    const renewed = await open(renewing, path, { headers: { cookie } });
    assert.deepEqual([renewed.status, renewed.location], [303, original["x-original-url"]]);
    assert.ok(renewed.cookie);
    const [before, after] = [cookie, renewed.cookie].map((one) => claimsOf(tokenOf(one)));
    assert.deepEqual([after?.sid, after?.iat], [before?.sid, before?.iat]);
    assert.ok(Number(after?.exp) > Number(before?.exp));
    assert.equal((await verify(renewed.cookie)).status, 200);
    // The old cookie is valid until it expires, and is not sent in circles.
    assert.equal((await verify(cookie)).status, 200);
    const expired = agedBy(0.3 * TTL_SECONDS, cookie);
    assert.equal((await verify(expired)).location?.split("?")[0], "https://auth.example.com/login");
  });

  // https://github.com/oauth2-proxy/oauth2-proxy/issues/707: proxies that send each refused page to the login page.
  test("the login page renews a session that is due, so that a fixed address to log in at makes no loop", async () => {
    const cookie = await logInBefore(0.8 * TTL_SECONDS);
    const led = await open(renewing, "/login?rd=%2Fx", { headers: { cookie } });
    assert.deepEqual([led.status, led.location], [303, "/x"]);
    assert.ok(Number(claimsOf(tokenOf(String(led.cookie))).exp) > Number(claimsOf(tokenOf(cookie)).exp));
    const again = await open(renewing, "/login?rd=%2Fx", { headers: { cookie: String(led.cookie) } });
    assert.deepEqual([again.status, again.location, again.cookie], [303, "/x", null]);
    await logInOnPage(renewing);
    const ended = await open(renewing, "/login?rd=%2Fx", { headers: { cookie } });
    assert.deepEqual([ended.location, ended.cookie], ["https://auth.example.com/login?rd=%2Fx&moved=1", null]);
  });

  test("a session that was superseded or has ended is not renewed", async () => {
    const first = await logInBefore(0.8 * TTL_SECONDS);
    await logInOnPage(renewing);
    const answer = await open(renewing, "/login/renew?rd=%2Fx", { headers: { cookie: first } });
    assert.deepEqual([answer.status, answer.location, answer.cookie], [303, "/login?rd=%2Fx", null]);
  });

  test("a token of the API in the cookie is not renewed, and a session that is not due is not either", async () => {
    const renew = (cookie: string) => open(renewing, "/login/renew?rd=%2Fx", { headers: { cookie } });
    const fresh = await renew(await logInOnPage(renewing));
    assert.deepEqual([fresh.status, fresh.location, fresh.cookie], [303, "/x", null]);
    const ofApi = `__Host-authserve=${await logIn(renewing)}`;
    ageSession(0.8 * TTL_SECONDS);
    const cookie = agedBy(0.8 * TTL_SECONDS, ofApi);
    const refused = await renew(cookie);
    assert.deepEqual([refused.status, refused.location, refused.cookie], [303, "/x", null]);
    for (const headers of [original, FETCH]) {
      const answer = await open(renewing, "/auth/verify/redirect", { headers: { ...headers, cookie } });
      assert.deepEqual([answer.status, answer.setCookie], [200, null]);
    }
  });

  const FETCH = { ...original, accept: "*/*", "sec-fetch-mode": "cors" };

  test("a request of a script gets the renewed cookie in the answer, which a page can still renew", async () => {
    const fetched = (cookie: string, more = {}) =>
      open(renewing, "/auth/verify", { headers: { ...FETCH, cookie, ...more } });
    const cookie = await logInBefore(0.8 * TTL_SECONDS);
    const answer = await fetched(cookie);
    assert.deepEqual([answer.status, answer.text, answer.headers.get("remote-user")], [200, "", "1"]);
    assert.match(String(answer.setCookie), /; Max-Age=3204; Path=\/; HttpOnly; SameSite=Lax; Secure$/);
    const [before, after] = [cookie, String(answer.cookie)].map((one) => claimsOf(tokenOf(one)));
    assert.deepEqual([after?.sid, after?.iat], [before?.sid, before?.iat]);
    for (const used of [String(answer.cookie), cookie]) assert.equal((await fetched(used)).setCookie, null);
    // The proxy dropped the new cookie.
    const page = await open(renewing, "/auth/verify/redirect", { headers: { ...original, cookie } });
    assert.equal(page.location?.split("?")[0], "https://auth.example.com/login/renew");
    // A token of this service in the Authorization header is that of a program.
    ageSession(0.8 * TTL_SECONDS);
    assert.equal((await fetched("x=y", { authorization: `Bearer ${tokenOf(cookie)}` })).setCookie, null);
  });

  test("a page whose address is too long for a redirect gets the renewed cookie in the answer", async () => {
    const long = { "x-original-url": `https://auth.example.com/app?${"a".repeat(4096)}` };
    const cookie = await logInBefore(0.8 * TTL_SECONDS);
    const answer = await open(renewing, "/auth/verify", { headers: { ...long, cookie } });
    assert.deepEqual([answer.status, answer.location], [200, null]);
    assert.ok(answer.cookie);
  });

  test("a request of a script revives no session", async () => {
    const cookie = await logInBefore(0.8 * TTL_SECONDS);
    await logInOnPage(renewing);
    const superseded = await open(renewing, "/auth/verify", { headers: { ...FETCH, cookie } });
    assert.deepEqual([superseded.status, superseded.setCookie], [401, null]);
    const expired = agedBy(0.3 * TTL_SECONDS, await logInBefore(0.8 * TTL_SECONDS));
    const late = await open(renewing, "/auth/verify", { headers: { ...FETCH, cookie: expired } });
    assert.deepEqual([late.status, late.setCookie], [401, null]);
  });
});

suite("a PUBLIC_URL with a path, which the proxy removes", () => {
  const BASE = "https://example.com/sso";
  const headers = { "x-forwarded-host": "example.com", "x-forwarded-proto": "https" };

  test("is in every address that a browser gets", async () => {
    await using server = await startServer({ env: { PUBLIC_URL: `${BASE}/`, TRUSTED_PROXIES: "127.0.0.1" } });
    const asked = { ...headers, "x-forwarded-uri": "/app/?a=b" };
    const sent = await open(server, "/auth/verify/redirect", { headers: asked });
    const rd = "https://example.com/app/?a=b";
    assert.equal(sent.location, `${BASE}/login?rd=${encodeURIComponent(rd)}`);
    assert.equal((await open(server, "/", { headers })).location, "/sso/login");
    assert.equal((await open(server, "/admin/", { headers })).location, "/sso/login?rd=/sso/admin/");
    const moved = await open(server, "/login", { headers: { ...headers, "x-forwarded-proto": "http" } });
    assert.equal(moved.location, `${BASE}/login?moved=1`);
    // The form's address is relative, so that it has the path, too.
    assert.match((await open(server, "/login", { headers })).text, /action="login"/);
    const login = (fields = {}) =>
      send(server, "/login", { ...CREDENTIALS, ...fields }, { origin: "https://example.com" });
    assert.equal((await login()).location, "/sso/");
    const { location, cookie } = await login({ rd });
    assert.equal(location, rd);
    const out = await send(server, "/logout", {}, { cookie: String(cookie) });
    assert.equal(out.location, "/sso/login");
  });
});
