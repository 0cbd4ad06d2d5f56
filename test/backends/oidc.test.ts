import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { needsAll, needsApache, needsPostgres, needsRedis } from "../helpers/back-end.ts";
import { logIn } from "../helpers/client.ts";
import { EMAIL, PASSWORD } from "../helpers/credentials.ts";
import { clientSettings, startApache, startOidcApp } from "../helpers/oidc-app.ts";
import { freePort } from "../helpers/ports.ts";
import { tempPostgres } from "../helpers/postgres.ts";
import { startRedis } from "../helpers/redis.ts";
import { startServer } from "../helpers/server.ts";
import { PATIENT } from "../helpers/several-servers.ts";
import { until } from "../helpers/until.ts";
import { userAgent } from "../helpers/user-agent.ts";

suite("an app of two servers", needsAll(needsPostgres(), needsRedis()), () => {
  for (const sessions of ["PostgreSQL", "Redis"]) {
    test(`with sessions in ${sessions}: a login at one ends what was begun at the other, also after a kill`, async (t) => {
      const [port, own] = [await freePort(), String(await freePort())];
      const { env } = clientSettings(port);
      const redis = sessions === "Redis" ? await startRedis(t) : null;
      const shared = {
        ...{ ...PATIENT, ...env, DATABASE_URL: (await tempPostgres(t)).url, PUBLIC_URL: `http://127.0.0.1:${own}` },
        ...(redis && { REDIS_HOST: "127.0.0.1", REDIS_PORT: String(redis.port) }),
      };
      const one = await startServer({ env: { ...shared, PORT: own } });
      t.after(() => one[Symbol.asyncDispose]());
      const other = await startServer({ env: shared });
      t.after(() => other[Symbol.asyncDispose]());
      const app = await startOidcApp(t, port, one.url);
      const browser = userAgent();
      const status = async () => (await browser.request(`${app}/me`)).status;

      await browser.go(`${app}/login`, { email: EMAIL, password: PASSWORD });
      assert.equal(await status(), 200);
      await logIn(other);
      await until(async () => (await status()) === 401);

      await browser.go(`${app}/login`, { email: EMAIL, password: PASSWORD });
      assert.equal(await status(), 200);
      await logIn(other);
      // Whichever of the two tells apps, the other one takes its place.
      await other.kill();
      await until(async () => (await status()) === 401);
    });
  }
});

suite("Apache with mod_auth_openidc", needsApache(), () => {
  test("logs in, and loses its session when a login elsewhere ends the one here, or when it logs out", async (t) => {
    const port = await freePort();
    const server = await startServer(clientSettings(port, "mod-auth-openidc", "/open"));
    t.after(() => server[Symbol.asyncDispose]());
    const app = await startApache(t, port, server.url);
    const browser = userAgent();
    const home = async () => {
      const { status, headers } = await browser.request(`${app}/index.html`);
      return [status, headers.get("x-user")];
    };
    const begin = () => browser.go(`${app}/index.html`, { email: EMAIL, password: PASSWORD });

    assert.deepEqual(await home(), [302, null]);
    const page = await begin();
    assert.deepEqual([page.status, page.text, page.url], [200, "the app", `${app}/index.html`]);
    assert.deepEqual(await home(), [200, EMAIL]);

    const endedAt = performance.now();
    await logIn(server);
    await until(async () => (await home())[0] === 302);
    t.diagnostic(`${Math.round(performance.now() - endedAt)} ms from the login elsewhere to the end of the session`);
    assert.equal((await server.logged("logout_delivered")).client, "app");

    await begin();
    assert.deepEqual(await home(), [200, EMAIL]);
    const out = await browser.go(`${app}/protected/redirect_uri?logout=${encodeURIComponent(`${app}/open`)}`, {});
    assert.deepEqual([out.url, out.text], [`${app}/open`, "logged out"]);
    assert.deepEqual(await home(), [302, null]);
    // The session of the login page has ended as well.
    const { headers } = await browser.request(`${server.url}/`);
    assert.match(String(headers.get("location")), /\/login/);
  });
});
