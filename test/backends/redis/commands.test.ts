import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { needsRedis } from "../../helpers/back-end.ts";
import { authserve } from "../../helpers/command.ts";
import { type RedisProcess, startRedis } from "../../helpers/redis.ts";
import { settings, startServer } from "../../helpers/server.ts";
import { PATIENT } from "../../helpers/several-servers.ts";
import { until } from "../../helpers/until.ts";
import { workingDir } from "../../helpers/working-dir.ts";

const settingsFor = ({ port }: RedisProcess) => ({ ...PATIENT, REDIS_HOST: "127.0.0.1", REDIS_PORT: String(port) });

suite("with Redis", needsRedis(), () => {
  test("selftest sessions passes on the configured Redis and leaves nothing behind", async (t) => {
    const redis = await startRedis(t);
    await using server = await startServer({ env: settingsFor(redis) });
    const client = redis.client(t);
    // The key of a check expires, so it may be in either list.
    const lastingKeys = async () => (await client.keys("*")).filter((key) => !/:check\b/.test(key));
    await server.logged("session_store_ready");
    await until(async () => (await lastingKeys()).length === 1);
    const before = await lastingKeys();
    const { code, stdout, stderr } = await server.run(["selftest", "sessions"]);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^a logout spares the login that replaces it +200 +0 +[0-9]+ ms$/m);
    assert.equal(stderr, "The redis store passed all races.\n");
    assert.deepEqual(await lastingKeys(), before);
  });

  test("selftest sessions reports a store that does not answer", async (t) => {
    const redis = await startRedis(t);
    await using server = await startServer({ env: settingsFor(redis) });
    await redis.kill();
    const { code, stdout, stderr } = await server.run(["selftest", "sessions"]);
    assert.deepEqual([code, stdout], [1, ""]);
    assert.match(stderr, /^error: Storage is not available; /);
  });

  test("doctor calls a Redis that answers but cannot store sessions wrong", async (t) => {
    const dir = workingDir();
    const redis = await startRedis(t);
    const env = { ...settings(dir), ...settingsFor(redis) };
    const found = async () => {
      const { stdout } = await authserve(["doctor", "--json"], { dir, env });
      const findings = JSON.parse(stdout) as { check: string; found: string }[];
      return findings.find(({ check }) => check === "Redis")?.found ?? "";
    };
    assert.match(await found(), /stores sessions$/);
    await redis.client(t).config("SET", "maxmemory", "1");
    assert.match(await found(), /answers but stores no session \(.*\bOOM /);
  });
});
