import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { logIn } from "../helpers/client.ts";
import { EMAIL, PASSWORD } from "../helpers/credentials.ts";
import { clockOffBy, needsFaketime } from "../helpers/fake-clock.ts";
import { ADA, BEN, clientSettings, logInToApps, startOidcApp, startToldApps } from "../helpers/oidc-app.ts";
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
    const [browser, other] = [userAgent(), userAgent()];
    const me = async (by = browser) => {
      const response = await by.request(`${app}/me`);
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
    // This app takes the end of a session for that of all sessions which its user has by then.
    await other.go(`${app}/login`, FIELDS);
    await until(async () => (await me()).status === 401);
    await until(() => server.log("logout_delivered").length === 2);
    assert.equal((await me(other)).status, 200);

    await other.go(`${app}/logout`, {});
    assert.equal((await me(other)).status, 401);
    assert.equal((await other.request(`${server.url}/`)).status, 303);
  });

  test("gets each person's own groups, and the login of one elsewhere ends no session of another", async (t) => {
    const port = await freePort();
    const server = await startServer(clientSettings(port, undefined, undefined, true));
    t.after(() => server[Symbol.asyncDispose]());
    const app = await startOidcApp(t, port, server.url);
    const [ofAda, ofBen, elsewhere] = [userAgent(), userAgent(), userAgent()];
    const me = async (by: typeof ofAda) => {
      const user = (await (await by.request(`${app}/me`)).json()) as Record<string, unknown>;
      return [user.sub, user.preferred_username, user.groups];
    };
    const [ada, ben] = [
      ["1", "ada", ["family", "admin"]],
      ["ben", "ben", ["family"]],
    ];
    await ofAda.go(`${app}/login`, ADA);
    await ofBen.go(`${app}/login`, BEN);
    assert.deepEqual([await me(ofAda), await me(ofBen)], [ada, ben]);

    await elsewhere.go(`${app}/login`, BEN);
    await until(async () => (await ofBen.request(`${app}/me`)).status === 401);
    assert.deepEqual([await me(ofAda), await me(elsewhere)], [ada, ben]);
    await ofAda.go(`${app}/logout`, {});
    await until(() => server.log("logout_delivered").length === 2);
    assert.deepEqual(await me(elsewhere), ben);
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

  test("is told of an end after it was down for ten minutes", needsFaketime(), async (t) => {
    const { settings, answer, told } = await startToldApps(t, ["photos"]);
    answer((_, response) => response.destroy());
    const clock = join(settings.dir, "clock");
    const set = (by: string) => writeFileSync(clock, `${by}\n`);
    set("+0s");
    const server = await startServer({ ...settings, env: { ...settings.env, ...clockOffBy(clock) } });
    t.after(() => server[Symbol.asyncDispose]());
    const [session] = await logInToApps(server, ["photos"]);
    await logIn(server);
    // By then the wait for the next attempt is over: 1 s, 5 s, 30 s, 2 minutes.
    for (const [count, by] of ["+10s", "+30s", "+90s", "+4m"].entries()) {
      await until(() => server.log("logout_not_delivered").length > count);
      set(by);
    }
    await until(() => server.log("logout_not_delivered").length === 5);
    answer((_, response) => response.writeHead(200).end());
    // The last attempt was after at most 5 minutes, and the next one is 10 minutes later.
    set("+15m");
    await server.logged("logout_delivered");
    assert.deepEqual(told(), Array(6).fill(session));
  });
});
