import assert from "node:assert/strict";
import { after, before, beforeEach, suite, test } from "node:test";
import type { Redis } from "ioredis";
import { needsRedis } from "../helpers/back-end.ts";
import { assertProblem, logIn, logOut, me, tryLogin } from "../helpers/client.ts";
import { USER_ID } from "../helpers/credentials.ts";
import { type RedisProcess, startRedis } from "../helpers/redis.ts";
import { type Server, startServer } from "../helpers/server.ts";
import { endOfSuite, PATIENT } from "../helpers/several-servers.ts";
import { claimsOf } from "../helpers/sign.ts";

const RECORD = `authserve:session:${USER_ID}`;

suite("two servers on one Redis", needsRedis(), () => {
  const cleanup = endOfSuite(after);
  let redis: RedisProcess;
  let client: Redis;
  let one: Server;
  let other: Server;

  before(async () => {
    redis = await startRedis(cleanup);
    client = redis.client(cleanup);
    const env = { ...PATIENT, REDIS_HOST: "127.0.0.1", REDIS_PORT: String(redis.port) };
    [one, other] = await Promise.all([startServer({ env }), startServer({ env })]);
    for (const server of [one, other]) cleanup.after(() => server[Symbol.asyncDispose]());
  });
  // Everything that they share.
  beforeEach(() => client.flushall());

  test("accept each other's tokens, and a login on one ends the session of the other", async () => {
    const first = await logIn(one);
    assert.equal((await me(other, first)).status, 200);
    const second = await logIn(other);
    assertProblem(await me(one, first), 401, "session_invalidated");
    assert.equal((await me(one, second)).status, 200);
    assert.equal((await logOut(one, second)).status, 200);
    assertProblem(await me(other, second), 401, "session_invalidated");
  });

  test("keep exactly one of 50 parallel logins, the one stored in Redis", async () => {
    const servers = [one, other];
    for (let round = 0; round < 3; round++) {
      const tokens = await Promise.all(Array.from({ length: 50 }, (_, index) => logIn(servers[index % 2] as Server)));
      const answers = await Promise.all(tokens.map((token, index) => me(servers[(index + 1) % 2] as Server, token)));
      const alive = tokens.filter((_, index) => answers[index]?.status === 200);
      assert.equal(alive.length, 1, `round ${round}: ${alive.length} tokens are alive`);
      assert.equal(claimsOf(alive[0] as string).sid, await client.get(RECORD));
    }
  });

  test("allow an address ten failed logins together, not ten each", async () => {
    const servers = [one, other];
    const guesses = await Promise.all(
      Array.from({ length: 30 }, (_, index) => tryLogin(servers[index % 2] as Server, { password: "wrong password" })),
    );
    assert.equal(guesses.filter(({ status }) => status === 401).length, 10);
    assert.equal(guesses.filter(({ status }) => status === 429).length, 20);
    for (const server of servers) assertProblem(await tryLogin(server), 429, "too_many_attempts");
  });

  test("recognize an address that logged in on either of them", async () => {
    await logIn(one);
    assert.equal((await client.keys("authserve:throttle:{login}:known:*")).length, 1);
  });
});
