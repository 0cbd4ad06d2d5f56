import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { ask } from "../helpers/client.ts";
import { EMAIL, PASSWORD } from "../helpers/credentials.ts";
import { type Server, startServer } from "../helpers/server.ts";
import { userAgent } from "../helpers/user-agent.ts";
import { workingDir } from "../helpers/working-dir.ts";

const SECRET = "a short one";
const CALLBACK = "http://127.0.0.1:9/callback";

const dir = workingDir();
writeFileSync(
  join(dir, "authserve.yaml"),
  `clients:
  app: { redirects: ["${CALLBACK}", "http://[::1]/app"], secret: env:APP_SECRET, consent: never, offline: keep }
`,
);
const server = await startServer({ dir, env: { APP_SECRET: SECRET } });
after(() => server[Symbol.asyncDispose]());

const queryOf = (more: Record<string, string> = {}) =>
  String(
    new URLSearchParams({
      client_id: "app",
      redirect_uri: CALLBACK,
      response_type: "code",
      scope: "openid email offline_access",
      ...more,
    }),
  );

async function loggedIn({ url }: Server) {
  const browser = userAgent();
  await browser.request(`${url}/login`, {
    method: "POST",
    body: new URLSearchParams({ email: EMAIL, password: PASSWORD }),
  });
  return browser;
}

const HEADERS = { "Content-Type": "application/x-www-form-urlencoded" };
const posted = (path: string, body: string) =>
  ask(server, path, { method: "POST", body, headers: HEADERS, redirect: "manual" });
const tokens = (at: Server, more: Record<string, string>) =>
  ask(at, "/oauth/token", {
    method: "POST",
    body: new URLSearchParams({ client_id: "app", client_secret: SECRET, redirect_uri: CALLBACK, ...more }),
  });

suite("OpenID Connect, with what apps do not send", () => {
  test("a form may have what no address can", async () => {
    for (const [sent, encoded] of [
      ["\r\nSet-Cookie: a=b", "%0D%0ASet-Cookie:%20a=b"],
      ["\0", "%00"],
      ["é😀", "%C3%A9%F0%9F%98%80"],
      ["#a", "%23a"],
      ["%zz", "%zz"],
    ])
      for (const path of ["/oauth/authorize", "/oauth/logout"]) {
        const { status, headers } = await posted(path, `${queryOf()}&a=${sent}`);
        assert.deepEqual([status, headers.get("location")], [303, `${path}?${queryOf()}&a=${encoded}`]);
      }
    // What would make no address is refused with a page.
    assert.equal((await posted("/oauth/authorize", `${queryOf()}&a=${"a".repeat(20_000)}`)).status, 400);
  });

  test("a login is asked for once, however the parameters are written that ask for it", async () => {
    const browser = await loggedIn(server);
    for (const parameter of ["authserve%5fafter=9999999999999", "%69d_token_hint=a", "id_token_hint=a"]) {
      const response = await browser.request(`${server.url}/oauth/authorize?${queryOf()}&${parameter}`);
      const login = new URL(String(response.headers.get("location")), server.url);
      assert.equal(login.pathname, "/login");
      const back = new URLSearchParams(String(login.searchParams.get("rd")).split("?")[1]);
      assert.deepEqual([back.getAll("authserve_after").length, back.has("id_token_hint")], [1, false]);
      assert.ok(Number(back.get("authserve_after")) <= Date.now());
    }
  });

  test("the login page may lead to an app at an IPv6 address", async () => {
    const rd = `/oauth/authorize?${queryOf({ redirect_uri: "http://[::1]:9/app" })}`;
    const { headers } = await ask(server, `/login?${new URLSearchParams({ rd })}`);
    assert.match(String(headers.get("content-security-policy")), /form-action 'self' http:;/);
  });

  test("a secret that can be guessed is warned of at the start", () => {
    const warnings = server.log("setting_warning").map(({ message }) => message);
    assert.ok(
      warnings.some((one) => one.includes("env:APP_SECRET is shorter than")),
      warnings.join("\n"),
    );
  });

  test("tokens of a former user tell nothing of the next one", async () => {
    const browser = await loggedIn(server);
    const response = await browser.request(`${server.url}/oauth/authorize?${queryOf()}`);
    const code = String(new URL(String(response.headers.get("location"))).searchParams.get("code"));
    const { json } = await tokens(server, { grant_type: "authorization_code", code });
    await server.stop();
    await using next = await startServer({ dir, env: { ...server.env, DEMO_USER_ID: "2" } });
    const headers = { Authorization: `Bearer ${json.access_token}` };
    assert.equal((await ask(next, "/oauth/userinfo", { headers })).status, 401);
    const refreshed = await tokens(next, { grant_type: "refresh_token", refresh_token: String(json.refresh_token) });
    assert.deepEqual([refreshed.status, refreshed.json.error], [400, "invalid_grant"]);
  });
});
