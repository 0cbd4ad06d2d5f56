import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { needsRedis } from "../helpers/back-end.ts";
import { type Answer, ask, assertProblem, deliver, event, logIn, logOut, tryLogin } from "../helpers/client.ts";
import { startRedis } from "../helpers/redis.ts";
import { type Server, startServer } from "../helpers/server.ts";
import { stats } from "../helpers/stored-events.ts";
import { until } from "../helpers/until.ts";

/** Each request on a connection of its own, which the kernel hands to any of the threads. */
const FRESH = { Connection: "close" };

const server = await startServer({
  env: { HTTP_THREADS: "3", TRUSTED_PROXIES: "127.0.0.1", LOG_LEVEL: "debug" },
});
after(() => server[Symbol.asyncDispose]());

const times = <T>(count: number, run: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => run(index)));

function meAfresh(token: string, of: Server = server): Promise<Answer> {
  return ask(of, "/auth/me", { headers: { Authorization: `Bearer ${token}`, ...FRESH } });
}

/** The threads that answered requests for a path. */
function threadsOf(path: string): Set<unknown> {
  return new Set(
    server
      .log("request_completed")
      .filter((line) => line.path === path)
      .map(({ thread }) => thread),
  );
}

/** The value of a metric, whichever thread is asked. */
async function metric(name: string): Promise<number> {
  const { text } = await ask(server, "/metrics", { headers: FRESH });
  const line = text.split("\n").find((candidate) => candidate.startsWith(`authserve_${name} `));
  return Number(line?.split(" ")[1] ?? 0);
}

suite("a server with three HTTP threads", () => {
  test("stores each of many deliveries once, however they are spread, and processes all", async () => {
    const names = [
      ...["new", "duplicate", "conflict"].map((result) => `deliveries_total{result="${result}"}`),
      "intake_batch_events_sum",
      'attempts_total{outcome="processed"}',
    ];
    const ids = Array.from({ length: 60 }, (_, index) => `spread-${index}`);
    await until(async () => (await stats(server)).queued === 0);
    const before = await Promise.all(names.map(metric));
    const answers = await Promise.all([...ids, ...ids].map((id) => deliver(server, event(id), FRESH)));
    for (const { status, text } of answers) assert.equal(status, 200, text);
    assert.equal(answers.filter(({ json }) => json.duplicate === false).length, ids.length);
    // The log comes by another way than the answers.
    await until(() => threadsOf("/webhook").size >= 2);
    await until(async () => (await stats(server)).queued === 0);

    // Three connections are likely to meet two threads: all must say the same.
    const expected = [ids.length, ids.length, 0, answers.length, ids.length];
    for (const _ of [1, 2, 3]) {
      const grown = (await Promise.all(names.map(metric))).map((value, index) => value - (before[index] ?? 0));
      assert.deepEqual(grown, expected);
    }
  });

  test("tells one of many equal deliveries that come at the same time that it was the first", async () => {
    for (let round = 0; round < 10; round++) {
      const answers = await times(12, () => deliver(server, event(`same-${round}`), FRESH));
      const firsts = answers.filter(({ json }) => json.duplicate === false);
      assert.equal(firsts.length, 1, `round ${round}: ${firsts.length} were told so`);
    }
  });

  test("leaves one of 30 parallel logins alive, and every thread knows which", async () => {
    const before = await metric('logins_total{outcome="succeeded"}');
    const tokens = await times(30, () => logIn(server, {}, FRESH));
    const alive = async () => {
      const answers = await Promise.all(tokens.map((token) => meAfresh(token)));
      return tokens.filter((_, index) => answers[index]?.status === 200);
    };
    const [winner] = await alive();
    for (const _ of [1, 2]) assert.deepEqual(await alive(), [winner]);
    assert.equal((await metric('logins_total{outcome="succeeded"}')) - before, 30);
    await until(() => threadsOf("/auth/login").size >= 2);
  });

  test("knows on every thread that a session was logged out, and that it was superseded", async () => {
    const first = await logIn(server);
    const token = await logIn(server);
    for (const { json } of await times(10, () => meAfresh(first))) assert.equal(typeof json.supersededAt, "string");
    assert.ok((await times(20, () => meAfresh(token))).every(({ status }) => status === 200));
    assert.equal((await logOut(server, token)).status, 200);
    for (const answer of await times(50, () => meAfresh(token))) assertProblem(answer, 401, "session_invalidated");
  });

  test("grants an address ten wrong guesses on all threads together", async () => {
    const from = { ...FRESH, "X-Forwarded-For": "203.0.113.7" };
    const guesses = await times(30, () => tryLogin(server, { password: "wrong password" }, from));
    assert.equal(guesses.filter(({ status }) => status === 401).length, 10);
    assert.equal(guesses.filter(({ status }) => status === 429).length, 20);
    const refused = await tryLogin(server, {}, from);
    assertProblem(refused, 429, "too_many_attempts");
    assert.match(refused.headers.get("retry-after") ?? "", /^[1-9][0-9]*$/);
  });

  test("is ready and healthy on every thread, and refuses a bad body as one thread does", async () => {
    for (const { status } of await times(10, () => ask(server, "/readyz", { headers: FRESH }))) {
      assert.equal(status, 200);
    }
    const bad = await tryLogin(server, { email: 1 }, FRESH);
    assertProblem(bad, 400, "validation_failed");
    assert.ok(Array.isArray(bad.json.errors));
  });
});

suite("with Redis", needsRedis(), () => {
  test("every HTTP thread sees logins and logouts of the others", async (t) => {
    const redis = await startRedis(t);
    const env = { HTTP_THREADS: "2", REDIS_HOST: "127.0.0.1", REDIS_PORT: String(redis.port) };
    await using onRedis = await startServer({ env });
    const first = await logIn(onRedis, {}, FRESH);
    const second = await logIn(onRedis, {}, FRESH);
    for (const { status } of await times(10, () => meAfresh(first, onRedis))) assert.equal(status, 401);
    for (const { status } of await times(10, () => meAfresh(second, onRedis))) assert.equal(status, 200);
    assert.equal((await logOut(onRedis, second)).status, 200);
    for (const { status } of await times(10, () => meAfresh(second, onRedis))) assert.equal(status, 401);
  });
});
