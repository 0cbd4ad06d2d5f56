import assert from "node:assert/strict";
import { suite, type TestContext, test } from "node:test";
import { ask, assertProblem, logIn, me, post, tryLogin } from "../helpers/client.ts";
import { EMAIL, PASSWORD } from "../helpers/credentials.ts";
import { PageClient } from "../helpers/page-client.ts";
import { addTotp } from "../helpers/second-factor.ts";
import { type Server, startServer } from "../helpers/server.ts";
import { claimsOf, forge, HEADER } from "../helpers/sign.ts";
import { totpCode } from "../helpers/totp.ts";
import { until } from "../helpers/until.ts";

const CREDENTIALS = { email: EMAIL, password: PASSWORD };
const INVALID = "Credenciales inválidas";

async function start(t: TestContext, env: Record<string, string> = {}): Promise<Server> {
  const server = await startServer({ env });
  t.after(() => server[Symbol.asyncDispose]());
  return server;
}

const codeLogin = (server: Server, code: string, more: object = {}, headers: Record<string, string> = {}) =>
  post(server, "/auth/login/code", { ...CREDENTIALS, code, ...more }, headers);

suite("a login of the API with a second factor", () => {
  test("needs a code after the right password, and a code opens the one session", async (t) => {
    const server = await start(t);
    const before = await logIn(server);
    const { secret, codes } = await addTotp(server);
    assertProblem(await tryLogin(server), 401, "second_factor_required");
    assert.equal((await me(server, before)).status, 200, "the right password alone ends no session");
    const answer = await codeLogin(server, totpCode(secret));
    assert.equal(answer.status, 200, answer.text);
    const token = String(answer.json.accessToken);
    assert.equal((await me(server, token)).status, 200);
    assertProblem(await me(server, before), 401, "session_invalidated");
    assertProblem(await codeLogin(server, totpCode(secret)), 401, "invalid_code");
    assert.equal((await me(server, token)).status, 200);
    assert.equal((await codeLogin(server, codes[0] ?? "")).status, 200);
    assertProblem(await codeLogin(server, codes[0] ?? ""), 401, "invalid_code");
    assert.deepEqual(
      server.log("login_succeeded").map(({ method }) => method),
      ["password", "totp", "recovery_code"],
    );
    assert.equal((await server.logged("recovery_code_used")).left, 9);
    assert.equal(server.log("second_factor_failed").length, 2);
  });

  test("answers an unknown e-mail and a wrong password as before, whatever the code", async (t) => {
    const server = await start(t);
    const { secret } = await addTotp(server);
    const bodyOf = async (more: object, code?: string) => {
      const answer = await (code === undefined ? tryLogin(server, more) : codeLogin(server, code, more));
      assertProblem(answer, 401, "invalid_credentials", INVALID);
      const { requestId: _, ...body } = answer.json;
      return body;
    };
    const wrong = await bodyOf({ password: "wrong-password" });
    const code = totpCode(secret);
    assert.deepEqual(await bodyOf({ email: "nobody@example.com" }), wrong);
    assert.deepEqual(await bodyOf({ password: "wrong-password" }, code), wrong);
    assert.deepEqual(await bodyOf({ email: "nobody@example.com" }, code), wrong);
    assert.equal((await codeLogin(server, code)).status, 200, "a wrong password uses no code up");
  });

  test("is as the mission says again once the last factor is removed", async (t) => {
    const server = await start(t);
    const { id, codes } = await addTotp(server);
    assertProblem(await tryLogin(server), 401, "second_factor_required");
    await server.run(["factors", "remove", id]);
    await logIn(server);
    assertProblem(await codeLogin(server, codes[0] ?? ""), 401, "invalid_code");
    assertProblem(await codeLogin(server, "x".repeat(65)), 400, "validation_failed");
    assertProblem(await codeLogin(server, "1", { more: 1 }), 400, "validation_failed");
  });

  test("ten wrong codes are as wrong passwords, and no code is tried any more", async (t) => {
    const server = await start(t);
    const { secret } = await addTotp(server);
    for (let n = 0; n < 10; n++) assertProblem(await codeLogin(server, `00000${n}`), 401, "invalid_code");
    assertProblem(await codeLogin(server, totpCode(secret)), 429, "too_many_attempts");
    assertProblem(await tryLogin(server), 429, "too_many_attempts");
  });

  test("ten wrong codes from anywhere are the limit of all unknown addresses, and not of one that is known", async (t) => {
    const server = await start(t, { TRUSTED_PROXIES: "127.0.0.1" });
    const from = (address: string) => ({ "X-Forwarded-For": address });
    await logIn(server, {}, from("192.0.2.1"));
    const { secret, codes } = await addTotp(server);
    for (let n = 0; n < 10; n++)
      assertProblem(await codeLogin(server, `00000${n}`, {}, from(`198.51.100.${n}`)), 401, "invalid_code");
    assertProblem(await codeLogin(server, totpCode(secret), {}, from("203.0.113.1")), 429, "too_many_attempts");
    assertProblem(await tryLogin(server, {}, from("203.0.113.1")), 401, "second_factor_required");
    assert.equal((await codeLogin(server, codes[0] ?? "", {}, from("192.0.2.1"))).status, 200);
  });

  test("wrong passwords use up no tries of codes", async (t) => {
    const server = await start(t, { TRUSTED_PROXIES: "127.0.0.1" });
    const { secret } = await addTotp(server);
    for (let n = 0; n < 12; n++) {
      const answer = await codeLogin(
        server,
        "000000",
        { password: "wrong-password" },
        { "X-Forwarded-For": `198.51.100.${n}` },
      );
      assertProblem(answer, 401, "invalid_credentials");
    }
    assert.equal((await codeLogin(server, totpCode(secret))).status, 200);
  });
});

/** Sends the right password on the page, and opens the page for the code. */
async function beginOnPage(server: Server, rd = "/"): Promise<PageClient> {
  const browser = new PageClient(server);
  const { status, location } = await browser.send("/login", { ...CREDENTIALS, rd });
  assert.deepEqual([status, location], [303, `/login/code?rd=${encodeURIComponent(rd)}`]);
  return browser;
}

suite("the login page with a second factor", () => {
  test("asks for the code on a page of its own, without script, and leads to where the login was to lead", async (t) => {
    const server = await start(t, { REDIRECT_ORIGINS: "https://app.example.net" });
    const { secret } = await addTotp(server);
    const rd = "https://app.example.net/a?b=c#d";
    const browser = await beginOnPage(server, rd);
    assert.equal((await browser.open("/")).location, "/login", "there is no session before the second step");
    const page = await browser.open(`/login/code?rd=${encodeURIComponent(rd)}`);
    assert.equal(page.status, 200);
    assert.match(page.text, /<input id="code" name="code"[^>]* autocomplete="one-time-code"/);
    assert.doesNotMatch(page.text, /<script/);
    assert.match(String(page.headers["content-security-policy"]), /form-action 'self' https:\/\/app\.example\.net;/);
    const wrong = await browser.send("/login/code", { code: "000000", rd });
    assert.equal(wrong.status, 401);
    assert.match(wrong.text, /role="alert"/);
    const right = await browser.send("/login/code", { code: totpCode(secret), rd });
    assert.deepEqual([right.status, right.location], [303, rd]);
    assert.equal((await browser.open("/")).status, 200);
    assert.deepEqual([...browser.cookies.keys()].sort(), ["authserve", "authserve-browser"]);
  });

  test("a login is kept if its first page asked for it", async (t) => {
    const server = await start(t, { KEEP_LOGGED_IN: "2d" });
    const { codes } = await addTotp(server);
    const browser = new PageClient(server);
    const first = await browser.send("/login", { ...CREDENTIALS, keep: "1" });
    assert.match(String(first.location), /^\/login\/code\?.*&keep=1$/);
    const { text } = await browser.open(String(first.location));
    assert.match(text, /<input type="hidden" name="keep" value="1">/);
    const last = await browser.send("/login/code", { code: codes[0] ?? "", rd: "/", keep: "1" });
    assert.ok(last.headers["set-cookie"]?.some((cookie) => cookie.includes("; Max-Age=172800;")));
  });

  test("the step belongs to one browser, and works once", async (t) => {
    const server = await start(t);
    const { codes } = await addTotp(server);
    const other = new PageClient(server);
    assert.equal((await other.open("/login/code")).location, "/login");
    assert.equal((await other.send("/login/code", { code: codes[0] ?? "", rd: "/" })).location, "/login?rd=%2F");
    const browser = await beginOnPage(server);
    const step = String(browser.cookies.get("authserve-step"));
    assert.equal((await browser.send("/login/code", { code: codes[0] ?? "", rd: "/" })).status, 303);
    const again = new PageClient(server);
    again.cookies.set("authserve-step", step);
    assert.equal((await again.send("/login/code", { code: codes[1] ?? "", rd: "/" })).status, 401);
    assert.equal((await browser.open("/")).status, 200, "the session is still the one before");
  });

  // https://github.com/nextcloud/server/pull/1031
  test("a browser at the page for the code is led back once the machine has removed all factors", async (t) => {
    const server = await start(t);
    await addTotp(server);
    const browser = await beginOnPage(server);
    assert.equal((await browser.open("/login/code?rd=%2F")).status, 200);
    assert.equal((await server.run(["factors", "remove", "--all"])).code, 0);
    assert.equal((await browser.open("/login/code?rd=%2F")).location, "/login?rd=%2F");
    assert.equal((await browser.send("/login/code", { code: "000000", rd: "/" })).location, "/login?rd=%2F");
    assert.equal((await browser.send("/login", { ...CREDENTIALS, rd: "/" })).location, "/");
  });

  test("a forged step, and one of another kind, are none", async (t) => {
    const server = await start(t);
    const { codes } = await addTotp(server);
    const browser = await beginOnPage(server);
    const [id, expiresAt, signature] = String(browser.cookies.get("authserve-step")).split(".");
    for (const value of [
      `${id}.${Number(expiresAt) + 1}.${signature}`,
      `${"A".repeat(43)}.${expiresAt}.${signature}`,
      `${id}.${expiresAt}.${"A".repeat(43)}`,
      "",
    ]) {
      browser.cookies.set("authserve-step", value);
      assert.equal(
        (await browser.send("/login/code", { code: codes[0] ?? "", rd: "/" })).location,
        "/login?rd=%2F",
        value,
      );
    }
  });

  test("a code from another site is refused, and used up by nobody", async (t) => {
    const server = await start(t);
    const { secret } = await addTotp(server);
    const browser = await beginOnPage(server);
    const fields = { code: totpCode(secret), rd: "/" };
    assert.equal((await browser.send("/login/code", fields, { "sec-fetch-site": "cross-site" })).status, 403);
    assert.equal((await browser.send("/login/code", fields)).status, 303);
  });

  test("ten wrong codes get 429, also with the right password again", async (t) => {
    const server = await start(t);
    await addTotp(server);
    const browser = await beginOnPage(server);
    for (let n = 0; n < 10; n++)
      assert.equal((await browser.send("/login/code", { code: `00000${n}`, rd: "/" })).status, 401);
    const refused = await browser.send("/login/code", { code: "000011", rd: "/" });
    assert.equal(refused.status, 429);
    assert.ok(Number(refused.headers["retry-after"]) > 0);
    assert.equal((await browser.send("/login", { ...CREDENTIALS, rd: "/" })).status, 429);
  });
});

suite("the page of the account", () => {
  test("shows factors and logins with any session, and changes them only after a login of the last five minutes", async (t) => {
    const server = await start(t);
    const { id, codes } = await addTotp(server);
    const browser = await beginOnPage(server);
    await browser.send("/login/code", { code: codes[0] ?? "", rd: "/" });
    const page = await browser.open("/account");
    assert.equal(page.status, 200);
    assert.match(page.text, /9 códigos|9 recovery codes/);
    assert.match(page.text, new RegExp(`name="id" value="${id}"`));

    const fresh = String(browser.cookies.get("authserve"));
    const { iat, ...claims } = claimsOf(fresh);
    browser.cookies.set("authserve", forge(HEADER, { ...claims, iat: iat - 301 }));
    assert.equal((await browser.open("/account")).status, 200);
    const again = "/login?again=1&rd=%2Faccount";
    for (const [path, fields] of [
      ["/account/remove", { id }],
      ["/account/recovery-codes", {}],
      ["/account/totp", { secret: "", code: "" }],
    ] as const)
      assert.equal((await browser.send(path, fields)).location, again, path);
    assert.equal((await browser.open("/account/totp")).location, again);
    const login = await browser.open(again);
    assert.equal(login.status, 200, "the login page opens although a session lives");
    const refused = await browser.open("/login?passkey-refused=1&rd=%2Faccount");
    assert.equal(refused.status, 200, "and tells of a passkey that was refused there");
    assert.equal(JSON.parse((await server.run(["factors", "list", "--json"])).stdout).recoveryCodesLeft, 9);

    const begun = await browser.send("/login", { ...CREDENTIALS, rd: "/account" });
    assert.equal(begun.location, "/login/code?rd=%2Faccount");
    assert.equal((await browser.open(begun.location)).status, 200, "the page for the code, too");
    assert.equal((await browser.send("/login/code", { code: codes[1] ?? "", rd: "/account" })).location, "/account");
    assert.match((await browser.send("/account/recovery-codes", {})).text, /<ul class="codes">/);
    assert.equal((await browser.send("/account/remove", { id }, { "sec-fetch-site": "cross-site" })).status, 403);
    assert.equal((await browser.send("/account/remove", { id })).location, "/account");
    const names = ["factor_removed", "recovery_codes_renewed"];
    for (const name of names) assert.equal((await server.logged(name)).address, "127.0.0.1");
    assert.equal((await tryLogin(server)).status, 200);
  });

  test("is for a session only", async (t) => {
    const server = await start(t);
    const nobody = new PageClient(server);
    for (const path of ["/account", "/account/totp"])
      assert.equal((await nobody.open(path)).location, "/login?rd=%2Faccount");
    assert.equal((await nobody.send("/account/remove", { id: "x" })).location, "/login?rd=%2Faccount");
  });

  test("shows no passkeys where browsers allow none, and a name with markup as text", async (t) => {
    const server = await start(t);
    await addTotp(server, "--name", "<b>phone");
    const token = String((await codeLogin(server, (await renewed(server))[0] ?? "")).json.accessToken);
    const browser = new PageClient(server);
    browser.cookies.set("authserve", token);
    const { text } = await browser.open("/account");
    assert.match(text, /&lt;b&gt;phone/);
    assert.doesNotMatch(text, /data-kind="new"/);
  });
});

const renewed = async (server: Server): Promise<string[]> =>
  JSON.parse((await server.run(["factors", "recovery-codes", "--json"])).stdout);

suite("a login from a network that nobody had logged in from", () => {
  const from = (address: string) => ({ "X-Forwarded-For": address });
  const firing = async (server: Server) => {
    const alerts = JSON.parse((await server.run(["alerts", "list", "--json"])).stdout) as Record<string, string>[];
    return alerts.filter(({ name }) => name === "AuthserveNewLoginNetwork");
  };

  test("is an alert, whose link ends that session without a login, and no other one", async (t) => {
    const server = await start(t, { TRUSTED_PROXIES: "127.0.0.1" });
    await logIn(server, {}, from("192.0.2.1"));
    await logIn(server, {}, from("192.0.2.77"));
    const theirs = await logIn(server, {}, from("198.51.100.1"));
    await until(async () => (await firing(server)).length > 0);
    const [alert] = await firing(server);
    assert.match(String(alert?.summary), /^somebody logged in from the network 198\.51\.100\.0\/24,/);
    const link = new URL(/https?:\S+/.exec(String(alert?.remedy))?.[0] ?? "");
    assert.equal(link.origin, server.url);

    const anybody = new PageClient(server);
    const page = await anybody.open(link.pathname + link.search);
    assert.equal(page.status, 200);
    assert.equal((await me(server, theirs)).status, 200, "the link alone ends nothing");
    const { sid = "", key = "" } = Object.fromEntries(link.searchParams);
    const forged = { sid, key: "A".repeat(43) };
    assert.equal((await anybody.send("/login/end", forged)).location, "/login");
    assert.equal((await anybody.send("/login/end", { sid, key }, { "sec-fetch-site": "cross-site" })).status, 403);
    assert.equal((await me(server, theirs)).status, 200);
    assert.equal((await anybody.send("/login/end", { sid, key })).status, 200);
    assertProblem(await me(server, theirs), 401, "session_invalidated");
    assert.equal((await server.logged("session_revoked")).reason, "alert_link");

    const mine = await logIn(server, {}, from("192.0.2.1"));
    assert.equal((await anybody.send("/login/end", { sid, key })).status, 200);
    assert.equal((await me(server, mine)).status, 200);
    assert.match((await ask(server, "/metrics")).text, /^authserve_new_login_network_timestamp_seconds 1[0-9.e+]+$/m);
  });
});
