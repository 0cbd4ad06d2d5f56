import assert from "node:assert/strict";
import { suite, type TestContext, test } from "node:test";
import { singleSessionSuite } from "../contract/single-session.ts";
import { needsRedis } from "../helpers/back-end.ts";
import { logIn, me } from "../helpers/client.ts";
import { startRedis } from "../helpers/redis.ts";
import { type Server, startServer } from "../helpers/server.ts";

async function startOne(t: TestContext, env: Record<string, string> = {}): Promise<Server> {
  const server = await startServer({ env });
  t.after(() => server[Symbol.asyncDispose]());
  return server;
}

singleSessionSuite("the embedded store", async (t) => [await startOne(t)]);

suite("with Redis", needsRedis(), () => {
  singleSessionSuite("Redis with two servers", async (t) => {
    const redis = await startRedis(t);
    const env = { REDIS_HOST: "127.0.0.1", REDIS_PORT: String(redis.port) };
    return [await startOne(t, env), await startOne(t, env)];
  });
});

test("120 parallel logins from one address all succeed, and one has a valid session", async () => {
  await using server = await startServer();
  const tokens = await Promise.all(Array.from({ length: 120 }, () => logIn(server)));
  const answers = await Promise.all(tokens.map((token) => me(server, token)));
  assert.equal(answers.filter(({ status }) => status === 200).length, 1);
});
