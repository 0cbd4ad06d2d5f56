import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { needsAll, needsApache, needsPostgres, needsRedis } from "../helpers/back-end.ts";
import { logIn } from "../helpers/client.ts";
import { EMAIL, PASSWORD } from "../helpers/credentials.ts";
import {
  ADA,
  BEN,
  clientSettings,
  logInToApps,
  startApache,
  startOidcApp,
  startToldApps,
} from "../helpers/oidc-app.ts";
import { freePort } from "../helpers/ports.ts";
import { tempPostgres } from "../helpers/postgres.ts";
import { withDatabase } from "../helpers/postgres-rows.ts";
import { startRedis } from "../helpers/redis.ts";
import { type Server, startServer } from "../helpers/server.ts";
import { PATIENT, startThree } from "../helpers/several-servers.ts";
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

suite("the ends of sessions at three servers on one PostgreSQL", needsPostgres(), () => {
  test("are told to all apps, and that of the live one to none, while those on duty are killed", async (t) => {
    const { settings, answer, told } = await startToldApps(t, ["photos", "notes"]);
    const servers = new Set<Server>(await startThree(t, settings.env));
    let refusals = 3;
    answer((_, response) => response.writeHead(refusals-- > 0 ? 503 : 200).end());
    const ended: string[] = [];
    let live: string[] = [];
    const logInAt = async (server: Server, names: string[]) => {
      ended.push(...live);
      live = [];
      live = await logInToApps(server, names);
    };
    const isTold = () => ended.every((one) => told().includes(one));

    while (servers.size > 1) {
      for (const names of [["photos", "notes"], ["notes"], ["photos", "notes"]])
        for (const server of servers) await logInAt(server, names);
      const isOnDuty = (server: Server) => server.log("logout_delivered").length > 0;
      const onDuty = await until(() => [...servers].find(isOnDuty));
      servers.delete(onDuty);
      // The session that this ends is told by the next one on duty, unless it was at once.
      await Promise.all([logInAt([...servers][0] as Server, ["photos", "notes"]), onDuty.kill()]);
    }
    await until(isTold);
    assert.deepEqual(
      live.filter((one) => told().includes(one)),
      [],
    );
  });

  for (const [what, mode] of [
    ["read", "ACCESS EXCLUSIVE"],
    ["written", "SHARE"],
  ] as const)
    test(`are told, though another session locks the table that is ${what}`, async (t) => {
      const { settings, told } = await startToldApps(t, ["photos"]);
      const { url } = await tempPostgres(t);
      const env = { ...settings.env, DATABASE_URL: url, DATABASE_TIMEOUT: "1s" };
      const server = await startServer({ env });
      t.after(() => server[Symbol.asyncDispose]());
      const [session] = await logInToApps(server, ["photos"]);
      await withDatabase(url, async (rows) => {
        await rows(`BEGIN; LOCK TABLE authserve.client_sessions IN ${mode} MODE`);
        await logIn(server);
        // What cannot be noted is told again.
        await (what === "read" ? server.logged("logout_not_delivered") : until(() => told().length > 1));
        await rows("COMMIT");
        await until(
          async () => (await rows("SELECT 1 FROM authserve.client_sessions WHERE ended_at IS NULL")).length === 0,
        );
      });
      assert.deepEqual([...new Set(told())], [session]);
    });
});

suite("Apache with mod_auth_openidc", needsApache(), () => {
  test("logs in, and loses its session when a login elsewhere ends the one here, or when it logs out", async (t) => {
    const port = await freePort();
    const server = await startServer(clientSettings(port, "mod-auth-openidc", "/open", true));
    t.after(() => server[Symbol.asyncDispose]());
    const app = await startApache(t, port, server.url);
    const [browser, other, ofBen] = [userAgent(), userAgent(), userAgent()];
    const home = async (by: typeof browser) => {
      const { status, headers } = await by.request(`${app}/index.html`);
      return [status, headers.get("x-user")];
    };
    const begin = (by: typeof browser) => by.go(`${app}/index.html`, ADA);

    assert.deepEqual(await home(browser), [302, null]);
    const page = await begin(browser);
    assert.deepEqual([page.status, page.text, page.url], [200, "the app", `${app}/index.html`]);
    assert.deepEqual(await home(browser), [200, EMAIL]);
    await ofBen.go(`${app}/index.html`, BEN);

    const beganAt = performance.now();
    await begin(other);
    await until(async () => (await home(browser))[0] === 302);
    t.diagnostic(`${Math.round(performance.now() - beganAt)} ms from the begin of the login elsewhere to this end`);
    assert.equal((await server.logged("logout_delivered")).client, "app");
    assert.deepEqual(await home(other), [200, EMAIL]);

    const out = await other.go(`${app}/protected/redirect_uri?logout=${encodeURIComponent(`${app}/open`)}`, {});
    assert.deepEqual([out.url, out.text], [`${app}/open`, "logged out"]);
    assert.deepEqual(await home(other), [302, null]);
    assert.deepEqual(await home(ofBen), [200, BEN.email]);
    // The session of the login page has ended as well.
    const { headers } = await other.request(`${server.url}/`);
    assert.match(String(headers.get("location")), /\/login/);
  });
});
