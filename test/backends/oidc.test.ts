import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { needsAll, needsPostgres, needsRedis } from "../helpers/back-end.ts";
import { logIn } from "../helpers/client.ts";
import { EMAIL, PASSWORD } from "../helpers/credentials.ts";
import { clientSettings, startOidcApp } from "../helpers/oidc-app.ts";
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
