import assert from "node:assert/strict";
import { suite, type TestContext, test } from "node:test";
import { needsRedis } from "../helpers/back-end.ts";
import { assertProblem, logIn, logOut, me, tryLogin } from "../helpers/client.ts";
import { USER_ID } from "../helpers/credentials.ts";
import { type RedisProcess, startRedis } from "../helpers/redis.ts";
import { type Server, startServer } from "../helpers/server.ts";
import { claimsOf } from "../helpers/sign.ts";

const RECORD = `authserve:session:${USER_ID}`;

interface Pair {
  redis: RedisProcess;
  one: Server;
  other: Server;
}

/** Two servers on one Redis, each with its own data directory. */
async function startPair(t: TestContext): Promise<Pair> {
  const redis = await startRedis(t);
  const env = { REDIS_HOST: "127.0.0.1", REDIS_PORT: String(redis.port) };
  const one = await startServer({ env });
  t.after(() => one[Symbol.asyncDispose]());
  const other = await startServer({ env });
  t.after(() => other[Symbol.asyncDispose]());
  return { redis, one, other };
}

suite("two servers on one Redis", needsRedis(), () => {
  test("accept each other's tokens, and a login on one ends the session of the other", async (t) => {
    const { one, other } = await startPair(t);
    const first = await logIn(one);
    assert.equal((await me(other, first)).status, 200);
    const second = await logIn(other);
    assertProblem(await me(one, first), 401, "session_invalidated");
    assert.equal((await me(one, second)).status, 200);
    assert.equal((await logOut(one, second)).status, 200);
    assertProblem(await me(other, second), 401, "session_invalidated");
  });

  test("keep exactly one of 50 parallel logins, the one stored in Redis", async (t) => {
    const { redis, one, other } = await startPair(t);
    const client = redis.client(t);
    const servers = [one, other];
    for (let round = 0; round < 3; round++) {
      const tokens = await Promise.all(Array.from({ length: 50 }, (_, index) => logIn(servers[index % 2] as Server)));
      const answers = await Promise.all(tokens.map((token, index) => me(servers[(index + 1) % 2] as Server, token)));
      const alive = tokens.filter((_, index) => answers[index]?.status === 200);
      assert.equal(alive.length, 1, `round ${round}: ${alive.length} tokens are alive`);
      assert.equal(claimsOf(alive[0] as string).sid, await client.get(RECORD));
    }
  });

  test("allow an address ten failed logins together, not ten each", async (t) => {
    const { one, other } = await startPair(t);
    const servers = [one, other];
    const guesses = await Promise.all(
      Array.from({ length: 30 }, (_, index) => tryLogin(servers[index % 2] as Server, { password: "wrong password" })),
    );
    assert.equal(guesses.filter(({ status }) => status === 401).length, 10);
    assert.equal(guesses.filter(({ status }) => status === 429).length, 20);
    for (const server of servers) assertProblem(await tryLogin(server), 429, "too_many_attempts");
  });

  test("recognize an address that logged in on either of them", async (t) => {
    const { redis, one } = await startPair(t);
    await logIn(one);
    assert.equal((await redis.client(t).keys("authserve:throttle:{login}:known:*")).length, 1);
  });
});
