import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { decodeJwt } from "jose";
import { ask } from "../helpers/client.ts";
import { PASSWORD, PASSWORD_HASH } from "../helpers/credentials.ts";
import { startServer } from "../helpers/server.ts";
import { until } from "../helpers/until.ts";
import { userAgent } from "../helpers/user-agent.ts";
import { workingDir } from "../helpers/working-dir.ts";

const CALLBACK = "http://127.0.0.1:9/callback";
const SECRET = "the secret of the app, a long one";

const dir = workingDir();
const writeFile = (allow: string) =>
  writeFileSync(
    join(dir, "authserve.yaml"),
    `people:
  ada: { name: Ada, email: owner@example.com, groups: [family, admin], owner: true }
  ben: { email: ben@example.com, passwordHash: env:BEN_HASH, groups: [family, kids] }
clients:
  app: { redirects: ["${CALLBACK}"], secret: env:APP_SECRET, consent: never, offline: keep, allow: [${allow}] }
  adults: { redirects: ["${CALLBACK}"], secret: env:APP_SECRET, consent: never, allow: [person:ada] }
  asking: { redirects: ["${CALLBACK}"], secret: env:APP_SECRET }
`,
  );
writeFile("group:family");
const server = await startServer({ dir, env: { APP_SECRET: SECRET, BEN_HASH: PASSWORD_HASH } });
after(() => server[Symbol.asyncDispose]());

type Browser = ReturnType<typeof userAgent>;

const logIn = (browser: Browser, email: string) =>
  browser.request(`${server.url}/login`, { method: "POST", body: new URLSearchParams({ email, password: PASSWORD }) });

async function loggedIn(name: "owner" | "ben"): Promise<Browser> {
  const browser = userAgent();
  await logIn(browser, `${name}@example.com`);
  return browser;
}

/** Where a browser is led that comes with an authorization request. */
async function authorize(browser: Browser, more: Record<string, string> = {}): Promise<URL> {
  const query = new URLSearchParams({
    ...{ client_id: "app", redirect_uri: CALLBACK, response_type: "code", state: "a state" },
    scope: "openid profile email groups offline_access",
    ...more,
  });
  const { headers } = await browser.request(`${server.url}/oauth/authorize?${query}`);
  return new URL(String(headers.get("location")), server.url);
}

const tokens = (client: string, more: Record<string, string>) =>
  ask(server, "/oauth/token", {
    method: "POST",
    body: new URLSearchParams({ client_id: client, client_secret: SECRET, redirect_uri: CALLBACK, ...more }),
  });

/** The tokens of an app that a browser was led back to with a code. */
async function exchanged(back: URL): Promise<Record<"access_token" | "refresh_token" | "id_token", string>> {
  const code = String(back.searchParams.get("code"));
  const { status, json, text } = await tokens("app", { grant_type: "authorization_code", code });
  assert.equal(status, 200, text);
  return json as Record<"access_token" | "refresh_token" | "id_token", string>;
}

const userInfo = (token: string) => ask(server, "/oauth/userinfo", { headers: { Authorization: `Bearer ${token}` } });

const namesIn = ({ sub, preferred_username, name, email, groups }: Record<string, unknown>) => [
  ...[sub, preferred_username, name, email, groups],
];

suite("an app of several people", () => {
  test("gets each one's own claims, in ID tokens, after a refresh, as user info and by introspection", async () => {
    for (const [name, expected] of [
      ["owner", ["1", "ada", "Ada", "owner@example.com", ["family", "admin"]]],
      ["ben", ["ben", "ben", "ben", "ben@example.com", ["family", "kids"]]],
    ] as const) {
      const first = await exchanged(await authorize(await loggedIn(name)));
      const { json } = await tokens("app", { grant_type: "refresh_token", refresh_token: first.refresh_token });
      for (const token of [first.id_token, String(json.id_token)])
        assert.deepEqual(namesIn(decodeJwt(token)), expected);
      assert.deepEqual(namesIn((await userInfo(String(json.access_token))).json), expected);
      const asked = new URLSearchParams({ client_id: "app", client_secret: SECRET, token: String(json.access_token) });
      const introspected = await ask(server, "/oauth/introspect", { method: "POST", body: asked });
      assert.deepEqual([introspected.json.active, introspected.json.sub], [true, expected[0]]);
    }
  });

  test("is told that a person may not log in to it, and the log says so", async () => {
    const back = await authorize(await loggedIn("ben"), { client_id: "adults" });
    const { error, state, iss, code = null } = Object.fromEntries(back.searchParams);
    assert.deepEqual([error, state, iss, code], ["access_denied", "a state", server.url, null]);
    const { check, reason } = await server.logged("authorization_refused");
    assert.deepEqual([check, reason], ["allow", "ben is not in allow of adults"]);
    assert.ok((await authorize(await loggedIn("owner"), { client_id: "adults" })).searchParams.has("code"));
  });

  test("with the ID token of one as a hint, gets nobody else, who is asked to log in", async () => {
    const [ada, ben] = [await loggedIn("owner"), await loggedIn("ben")];
    const hint = { id_token_hint: (await exchanged(await authorize(ben))).id_token };
    const silent = await authorize(ada, { ...hint, prompt: "none" });
    assert.equal(silent.searchParams.get("error"), "login_required");
    const login = await authorize(ada, hint);
    assert.equal(login.pathname, "/login");
    const back = new URL(String(login.searchParams.get("rd")), server.url).href;
    // Without a login, and after one of the same person.
    assert.equal(new URL(String((await ada.request(back)).headers.get("location")), server.url).pathname, "/login");
    await logIn(ada, "owner@example.com");
    const missed = new URL(String((await ada.request(back)).headers.get("location")));
    assert.equal(missed.searchParams.get("error"), "login_required");
    await logIn(ada, "ben@example.com");
    const answered = new URL(String((await ada.request(back)).headers.get("location")));
    assert.equal(decodeJwt((await exchanged(answered)).id_token).sub, "ben");
  });

  test("learns from no hint who exists", async () => {
    const led = async (id: string) => String(await authorize(userAgent(), { authserve_user: id }));
    assert.equal(
      (await led("ben")).replace(/after%3D\d+/, ""),
      (await led("eve")).replace("eve", "ben").replace(/after%3D\d+/, ""),
    );
  });

  test("that lets somebody choose the account gets whoever then logs in", async () => {
    const browser = await loggedIn("owner");
    const login = await authorize(browser, { prompt: "select_account" });
    assert.equal(login.pathname, "/login");
    await logIn(browser, "ben@example.com");
    const back = new URL(String(login.searchParams.get("rd")), server.url).href;
    const answered = new URL(String((await browser.request(back)).headers.get("location")));
    assert.equal(decodeJwt((await exchanged(answered)).id_token).sub, "ben");
  });

  test("with the ID token of one cannot log another out", async () => {
    const ben = await loggedIn("ben");
    const { id_token } = await exchanged(await authorize(ben));
    const ada = await loggedIn("owner");
    const query = new URLSearchParams({ id_token_hint: id_token });
    const { headers } = await ada.request(`${server.url}/oauth/logout?${query}`);
    assert.deepEqual([headers.get("location"), headers.get("set-cookie")], ["/logout", null]);
    for (const browser of [ada, ben]) assert.equal((await browser.request(`${server.url}/account`)).status, 200);
    await ben.request(`${server.url}/oauth/logout?${query}`);
    assert.equal((await ben.request(`${server.url}/account`)).status, 303);
    assert.equal((await ada.request(`${server.url}/account`)).status, 200);
  });

  test("asks each one for consent, and a form of one is not for another", async () => {
    const [ada, ben] = [await loggedIn("owner"), await loggedIn("ben")];
    const query = { client_id: "asking", redirect_uri: CALLBACK, response_type: "code", scope: "openid" };
    const url = `${server.url}/oauth/authorize?${new URLSearchParams(query)}`;
    const page = await (await ada.request(url)).text();
    const request = (/name="request" value="([^"]*)"/.exec(page)?.[1] ?? "").replaceAll("&amp;", "&");
    const form = { method: "POST", body: new URLSearchParams({ request, answer: "allow" }) };
    const answer = async (browser: Browser) =>
      new URL(String((await browser.request(`${server.url}/oauth/consent`, form)).headers.get("location")), server.url);
    assert.equal((await answer(ben)).searchParams.get("error"), "login_required");
    assert.ok((await answer(ada)).searchParams.has("code"));
    assert.equal((await ada.request(url)).status, 303);
    assert.match(await (await ben.request(url)).text(), /<strong>ben@example\.com<\/strong>/);
  });

  test("keeps no tokens of a person who may no longer log in to it", async () => {
    const [ada, ben] = [await loggedIn("owner"), await loggedIn("ben")];
    const [ofAda, ofBen] = [await exchanged(await authorize(ada)), await exchanged(await authorize(ben))];
    const code = String((await authorize(ben)).searchParams.get("code"));
    writeFile("person:ada");
    await until(async () => (await userInfo(ofBen.access_token)).status === 401);
    const refused = await tokens("app", { grant_type: "refresh_token", refresh_token: ofBen.refresh_token });
    assert.deepEqual([refused.status, refused.json.error], [400, "invalid_grant"]);
    assert.equal((await tokens("app", { grant_type: "authorization_code", code })).status, 400);
    assert.equal((await userInfo(ofAda.access_token)).status, 200);
  });
});
