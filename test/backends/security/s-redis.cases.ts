import assert from "node:assert/strict";
import { after, test } from "node:test";
import { type Answer, ask, assertProblem, logIn, logOut, me, notReady, tryLogin } from "../../helpers/client.ts";
import { startRedis } from "../../helpers/redis.ts";
import { startServer } from "../../helpers/server.ts";
import { PATIENT } from "../../helpers/several-servers.ts";
import { claimsOf } from "../../helpers/sign.ts";
import { until } from "../../helpers/until.ts";

const KEY = "authserve:session:1";

const redis = await startRedis({ after });
const client = redis.client({ after });
const env = { ...PATIENT, REDIS_HOST: "127.0.0.1", REDIS_PORT: String(redis.port) };
const [one, two] = await Promise.all([startServer({ env }), startServer({ env })]);
after(() => Promise.all([one[Symbol.asyncDispose](), two[Symbol.asyncDispose]()]));

function assertUnavailable(answer: Answer): void {
  assertProblem(answer, 503, "store_unavailable");
  assert.match(answer.headers.get("retry-after") ?? "", /^[1-9][0-9]*$/);
  assert.doesNotMatch(answer.text, /redis|\n\s+at |ECONN|OOM|READONLY|WRONGTYPE/i);
}

test("S2 after 50 parallel logins at two processes on one Redis, exactly one token is valid at both", async () => {
  for (let round = 0; round < 5; round++) {
    const tokens = await Promise.all(Array.from({ length: 50 }, (_, n) => logIn(n % 2 ? one : two)));
    for (const server of [one, two]) {
      const answers = await Promise.all(tokens.map((token) => me(server, token)));
      const alive = tokens.filter((_, index) => answers[index]?.status === 200);
      assert.equal(alive.length, 1);
      assert.equal(claimsOf(alive[0] ?? "").sid, await client.call("GET", KEY));
    }
  }
});

test("S3 a logout at one process never ends the session of a concurrent login at the other", async () => {
  for (let round = 0; round < 30; round++) {
    const first = await logIn(one);
    const [, second] = await Promise.all([logOut(one, first), logIn(two)]);
    assert.equal((await me(one, second)).status, 200);
  }
});

test("S11 the record's lifetime is the token's", async () => {
  await logIn(one);
  const ttl = Number(await client.call("TTL", KEY));
  assert.ok(ttl > 800 && ttl <= 900, String(ttl));
});

test("S13 a hanging Redis gives 503, and the service recovers with it", async () => {
  await using hurried = await startServer({ env: { ...env, REDIS_TIMEOUT: "1s" } });
  const token = await logIn(one);
  await until(async () => (await ask(hurried, "/readyz")).status === 200);
  redis.pause();
  try {
    for (const answer of await Promise.all([me(hurried, token), logOut(hurried, token), tryLogin(hurried)]))
      assertUnavailable(answer);
    assert.equal((await ask(hurried, "/healthz")).status, 200);
    const ready = await ask(hurried, "/readyz");
    assert.deepEqual([ready.status, notReady(ready)], [503, ["sessions"]]);
  } finally {
    redis.resume();
  }
  await until(async () => (await ask(hurried, "/readyz")).status === 200);
  await until(async () => (await tryLogin(hurried)).status !== 503);
});

test("S13 a Redis out of memory gives 503 at login, never a success", async () => {
  const token = await logIn(one);
  await client.call("CONFIG", "SET", "maxmemory", "1");
  try {
    assertUnavailable(await tryLogin(one));
  } finally {
    await client.call("CONFIG", "SET", "maxmemory", "0");
  }
  assert.equal((await me(one, token)).status, 200);
});

test("S13 a read-only Redis gives 503 at login and logout", async () => {
  const token = await logIn(one);
  // A replica without its master, as after a failover.
  await client.call("REPLICAOF", "127.0.0.1", "1");
  try {
    assertUnavailable(await tryLogin(one));
    assertUnavailable(await logOut(one, token));
  } finally {
    await client.call("REPLICAOF", "NO", "ONE");
  }
  await until(async () => (await ask(one, "/readyz")).status === 200);
  assert.equal((await me(one, token)).status, 200);
});

test("S13 a Redis with too few replicas to write gives 503 at login", async () => {
  await client.call("CONFIG", "SET", "min-replicas-to-write", "1");
  try {
    assertUnavailable(await tryLogin(one));
  } finally {
    await client.call("CONFIG", "SET", "min-replicas-to-write", "0");
  }
});

test("S14 a record of a wrong type or value is no session and causes no internal error", async () => {
  const token = await logIn(one);
  await client.call("SET", KEY, "{not a sid");
  assertProblem(await me(one, token), 401, "session_invalidated");
  await client.call("DEL", KEY);
  await client.call("RPUSH", KEY, "a", "b");
  assertUnavailable(await me(one, token));
  assertUnavailable(await logOut(one, token));
  assert.equal((await me(one, await logIn(one))).status, 200);
});

test("S15 FLUSHALL ends the session and the next login opens one", async () => {
  const token = await logIn(one);
  await client.call("FLUSHALL");
  assertProblem(await me(one, token), 401, "session_invalidated", "Sesión invalidada. Inicia sesión de nuevo.");
  assert.equal((await me(one, await logIn(one))).status, 200);
});

test("S13 a stopped Redis gives 503 everywhere, and the service recovers with it", async (t) => {
  const own = await startRedis(t);
  await using server = await startServer({
    env: { ...PATIENT, REDIS_HOST: "127.0.0.1", REDIS_PORT: String(own.port) },
  });
  const token = await logIn(server);
  await own.kill();
  for (const answer of [await me(server, token), await tryLogin(server), await logOut(server, token)]) {
    assertUnavailable(answer);
  }
  assert.equal((await ask(server, "/healthz")).status, 200);
  await own.restart();
  await until(async () => (await ask(server, "/readyz")).status === 200);
  assert.equal((await me(server, await logIn(server))).status, 200);
});

test("a session is valid at both processes, and so is its revocation", async () => {
  const token = await logIn(one);
  assert.equal((await me(two, token)).status, 200);
  assert.equal((await two.run(["session", "revoke"])).code, 0);
  for (const server of [one, two]) assertProblem(await me(server, token), 401, "session_invalidated");
});
