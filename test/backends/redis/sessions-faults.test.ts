import assert from "node:assert/strict";
import { suite, type TestContext, test } from "node:test";
import { needsRedis } from "../../helpers/back-end.ts";
import { type RedisProcess, redisMajor, startRedis } from "../../helpers/redis.ts";
import {
  allUnavailable,
  heals,
  type OpenedStore,
  openOnRedis,
  SHORT_MS,
  single,
  unavailable,
} from "../../helpers/redis-store.ts";
import { isWell, until } from "../../helpers/until.ts";

const onRedis = needsRedis();

suite("a Redis that", onRedis, () => {
  async function withSession(t: TestContext): Promise<OpenedStore & { server: RedisProcess }> {
    const server = await startRedis(t);
    const opened = openOnRedis(t, single(server));
    await opened.store.replace("1", "a", 60);
    return { ...opened, server };
  }

  /** Connects with a short time limit. */
  async function openHurried(t: TestContext, server: RedisProcess): Promise<OpenedStore> {
    const opened = openOnRedis(t, single(server), { timeoutMs: SHORT_MS });
    await heals(opened.store);
    return opened;
  }

  test("hangs is unavailable at every call, and works again when it resumes", async (t) => {
    const { server, store } = await withSession(t);
    const { store: hurried, downs } = await openHurried(t, server);
    const before = downs.length;
    server.pause();
    for (let round = 0; round < 3; round++) await allUnavailable(hurried);
    assert.equal(downs.length, before + 1, "one outage is told once");
    server.resume();
    await heals(hurried);
    assert.equal(await store.current("1"), "a");
  });

  test("sleeps in one command is unavailable", async (t) => {
    const server = await startRedis(t, { args: redisMajor() < 7 ? [] : ["--enable-debug-command", "yes"] });
    const { store } = await openHurried(t, server);
    // Longer than this test. Nobody waits for its answer.
    const sleeper = server.client(t);
    sleeper.call("DEBUG", "SLEEP", "600").catch(() => {});
    await until(async () => !(await isWell(() => store.check("1"))));
    await allUnavailable(store);
    // Once connected again, it would send the command again.
    sleeper.disconnect();
    await server.kill();
    await server.restart();
    await heals(store);
  });

  test("holds back its answers does not accumulate commands", async (t) => {
    const server = await startRedis(t);
    const { connection, store } = await openHurried(t, server);
    server.pause();
    const asked = await Promise.allSettled(
      Array.from({ length: 2000 }, () => connection.ask((client) => client.get("authserve:session:1"))),
    );
    assert.ok(asked.every(({ status }) => status === "rejected"));
    server.resume();
    await heals(store);
  });

  test("is killed is unavailable, and works again after its restart", async (t) => {
    const { server, store, ups } = await withSession(t);
    await server.kill();
    await allUnavailable(store);
    await server.restart();
    await heals(store);
    assert.equal(await store.current("1"), null);
    await store.replace("1", "b", 60);
    assert.equal(await store.current("1"), "b");
    assert.equal(ups.length, 2);
  });

  test("is down at the start is unavailable, and used as soon as it is up", async (t) => {
    const server = await startRedis(t);
    await server.kill();
    const { store, downs } = openOnRedis(t, single(server));
    await allUnavailable(store);
    await server.restart();
    await heals(store);
    assert.equal(downs.length, 1);
  });

  test("has become a replica is unavailable, also for reading, and works again as a master", async (t) => {
    const { server, store } = await withSession(t);
    const admin = server.client(t);
    await admin.call("REPLICAOF", "127.0.0.1", "1");
    await unavailable(() => store.replace("1", "b", 60));
    await until(async () => !(await isWell(() => store.current("1"))));
    await allUnavailable(store);
    await admin.call("REPLICAOF", "NO", "ONE");
    await heals(store);
    assert.equal(await store.current("1"), "a");
  });

  test("is full refuses logins as unavailable, still answers reads, and accepts logins again when there is room", async (t) => {
    const { server, store } = await withSession(t);
    const admin = server.client(t);
    await admin.config("SET", "maxmemory", "1");
    await unavailable(() => store.replace("1", "b", 60, { network: "203.0.113.0/24", userAgent: null }));
    await unavailable(() => store.check("1"));
    assert.equal(await store.current("1"), "a");
    assert.deepEqual(await admin.keys("*"), ["authserve:session:1"]);
    await admin.config("SET", "maxmemory", "0");
    await store.check("1");
    assert.equal((await store.replace("1", "b", 60)).wasLive, true);
  });

  test("lacks its required replicas refuses a login as unavailable", async (t) => {
    const { server, store } = await withSession(t);
    const admin = server.client(t);
    await admin.config("SET", "min-replicas-to-write", "1");
    // Before Redis 7 the setting applies to single commands only, and a login is a script.
    if (redisMajor() < 7) {
      await unavailable(() => store.remove("1"));
      return;
    }
    await unavailable(() => store.replace("1", "b", 60));
    assert.equal(await store.current("1"), "a");
  });

  test("holds another type under the key is unavailable until a login or a revocation", async (t) => {
    const { server, store } = await withSession(t);
    const client = server.client(t);
    await client.del("authserve:session:1");
    await client.lpush("authserve:session:1", "not a sid");
    await unavailable(() => store.current("1"));
    await unavailable(() => store.find("1"));
    await unavailable(() => store.removeIf("1", "b"));
    assert.equal(await store.remove("1"), true);
    await client.lpush("authserve:session:1", "not a sid");
    assert.equal((await store.replace("1", "b", 60)).wasLive, false);
    assert.equal(await store.current("1"), "b");
  });

  test("was flushed has no sessions", async (t) => {
    const { server, store } = await withSession(t);
    await server.client(t).flushall();
    assert.equal(await store.current("1"), null);
  });
});
