import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { supersededSuite } from "../../contract/superseded-session.ts";
import { needsRedis } from "../../helpers/back-end.ts";
import { logIn, me } from "../../helpers/client.ts";
import { startRedis } from "../../helpers/redis.ts";
import { startServer } from "../../helpers/server.ts";
import { PATIENT } from "../../helpers/several-servers.ts";

const PROXY = { TRUSTED_PROXIES: "127.0.0.1" };

suite("with Redis", needsRedis(), () => {
  supersededSuite("Redis", async (t) => {
    const redis = await startRedis(t);
    const env = { ...PATIENT, ...PROXY, REDIS_HOST: "127.0.0.1", REDIS_PORT: String(redis.port) };
    const server = await startServer({ env });
    t.after(() => server[Symbol.asyncDispose]());
    return server;
  });

  test("a new server with the same password ends no session", async (t) => {
    const redis = await startRedis(t);
    const env = { ...PATIENT, REDIS_HOST: "127.0.0.1", REDIS_PORT: String(redis.port) };
    await using first = await startServer({ env });
    const token = await logIn(first);
    await using second = await startServer({ env });
    assert.equal((await me(second, token)).status, 200);
  });
});
