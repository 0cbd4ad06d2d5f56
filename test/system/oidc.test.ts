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
});
