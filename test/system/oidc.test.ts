import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { logIn } from "../helpers/client.ts";
import { EMAIL, PASSWORD } from "../helpers/credentials.ts";
import { clientSettings, startOidcApp } from "../helpers/oidc-app.ts";
import { freePort } from "../helpers/ports.ts";
import { startServer } from "../helpers/server.ts";
import { until } from "../helpers/until.ts";
import { userAgent } from "../helpers/user-agent.ts";

const FIELDS = { email: EMAIL, password: PASSWORD };

suite("an app that logs in by OpenID Connect", () => {
  test("gets the user, and loses its session when a login elsewhere ends the one here", async (t) => {
    const port = await freePort();
    const server = await startServer(clientSettings(port));
    t.after(() => server[Symbol.asyncDispose]());
    const app = await startOidcApp(t, port, server.url);
    const browser = userAgent();
    const me = async () => {
      const response = await browser.request(`${app}/me`);
      return { status: response.status, user: (await response.json()) as Record<string, unknown> };
    };
    assert.equal((await me()).status, 401);
    await browser.go(`${app}/login`, FIELDS);
    const { status, user } = await me();
    assert.equal(status, 200);
    assert.deepEqual([user.sub, user.email, user.email_verified, user.groups], ["1", EMAIL, true, ["admin"]]);

    await logIn(server);
    await until(async () => (await me()).status === 401);
    assert.equal((await server.logged("logout_delivered")).client, "app");

    // The next login asks for no consent.
    await browser.go(`${app}/login`, FIELDS);
    assert.equal((await me()).status, 200);
    await browser.go(`${app}/logout`, {});
    assert.equal((await me()).status, 401);
    assert.equal((await browser.request(`${server.url}/`)).status, 303);
  });

  test("is named on the account page, and before a login elsewhere by a browser that was there before", async (t) => {
    const port = await freePort();
    const server = await startServer(clientSettings(port));
    t.after(() => server[Symbol.asyncDispose]());
    const app = await startOidcApp(t, port, server.url);
    const [first, second, stranger] = [userAgent(), userAgent(), userAgent()];
    const page = async (browser: typeof first, path: string) =>
      (await browser.request(server.url + path, { headers: { "accept-language": "en" } })).text();
    await second.go(`${app}/login`, FIELDS);
    await second.request(`${server.url}/logout`, { method: "POST", headers: { origin: server.url } });
    assert.doesNotMatch(await page(second, "/login"), /your session in/, "there is none");
    await first.go(`${app}/login`, FIELDS);
    assert.match(
      await page(first, "/account"),
      /Apps in this session<\/h2>\s*<ul>\s*<li><strong>app<\/strong><br>It logs you out as soon as/,
    );
    assert.match(
      await page(second, "/login"),
      /Logging in ends your session in .*, from the network 127\.0\.0\.0\/24\. These apps take part in it: app\./,
    );
    assert.match(await page(stranger, "/login"), /Logging in ends your session on any other device/);
  });
});
