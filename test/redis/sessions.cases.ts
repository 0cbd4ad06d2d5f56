import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import type { SessionStore } from "../../src/auth/sessions.ts";
import type { RedisOptions } from "../../src/redis/client.ts";
import { sessionStoreContract } from "../contract/session-store.ts";
import { startRedis } from "../helpers/redis.ts";
import { heals, openOnRedis, unavailableInTime } from "../helpers/redis-store.ts";
import type { Cleanup } from "../helpers/temp-dir.ts";

const KEY = "authserve:session:1";

const shared = await startRedis({ after });

function connect(t: Cleanup, port: number, options: Partial<RedisOptions> = {}): SessionStore {
  return openOnRedis(t, { kind: "single", address: { host: "127.0.0.1", port } }, options).store;
}

async function openEmpty(t: Cleanup): Promise<SessionStore> {
  await shared.client(t).flushall();
  return connect(t, shared.port);
}

sessionStoreContract("Redis", openEmpty);

suite("what Redis holds", () => {
  test("is one key per user: its value the sid, its expiry the token's lifetime", async (t) => {
    const store = await openEmpty(t);
    const client = shared.client(t);
    await store.replace("1", "a", 900);
    assert.deepEqual(await client.keys("*"), [KEY]);
    assert.equal(await client.get(KEY), "a");
    const ttl = await client.pttl(KEY);
    assert.ok(ttl > 890_000 && ttl <= 900_000, String(ttl));
  });

  test("is not changed by reading", async (t) => {
    const store = await openEmpty(t);
    const client = shared.client(t);
    await store.replace("1", "a", 900);
    await client.pexpire(KEY, 50_000);
    await store.current("1");
    await store.find("1");
    assert.ok((await client.pttl(KEY)) <= 50_000);
  });

  test("may be evicted: the session is then gone", async (t) => {
    const store = await openEmpty(t);
    await store.replace("1", "a", 900);
    await shared.client(t).flushall();
    assert.equal(await store.current("1"), null);
  });

  test("is shared by two processes: a hundred parallel logins leave one session", async (t) => {
    const stores = [await openEmpty(t), connect(t, shared.port)];
    const sids = Array.from({ length: 50 }, (_, i) => [`x-${i}`, `y-${i}`]).flat();
    await Promise.all(sids.map((sid, i) => stores[i % 2]?.replace("1", sid, 60)));
    const [first, second] = await Promise.all(stores.map((store) => store.current("1")));
    assert.ok(first && sids.includes(first));
    assert.equal(second, first);
  });

  test("of another type is store_unavailable, and can be revoked or replaced by a login", async (t) => {
    const store = await openEmpty(t);
    await shared.client(t).lpush(KEY, "not a sid");
    for (const operation of [() => store.current("1"), () => store.find("1"), () => store.removeIf("1", "a")]) {
      await unavailableInTime(operation);
    }
    assert.equal(await store.remove("1"), true);
    await shared.client(t).lpush(KEY, "not a sid");
    assert.equal(await store.replace("1", "a", 60), false);
    assert.equal(await store.current("1"), "a");
  });
});

suite("a Redis that", () => {
  test("hangs is store_unavailable within 1.5 seconds, and works again when it resumes", async (t) => {
    const server = await startRedis(t);
    const store = connect(t, server.port);
    await store.replace("1", "a", 60);
    server.pause();
    try {
      await Promise.all([
        unavailableInTime(() => store.current("1")),
        unavailableInTime(() => store.find("1")),
        unavailableInTime(() => store.removeIf("1", "other")),
        unavailableInTime(() => store.check("1")),
      ]);
    } finally {
      server.resume();
    }
    await heals(store, 5000);
    assert.equal(await store.current("1"), "a");
  });

  test("is killed is store_unavailable at once, and works again after a restart", async (t) => {
    const server = await startRedis(t);
    const store = connect(t, server.port);
    await store.replace("1", "a", 60);
    await server.kill();
    for (const operation of [
      () => store.current("1"),
      () => store.replace("1", "b", 60),
      () => store.removeIf("1", "a"),
    ]) {
      await unavailableInTime(operation);
    }
    await server.restart();
    await heals(store, 5000);
    assert.equal(await store.current("1"), null);
    await store.replace("1", "c", 60);
    assert.equal(await store.current("1"), "c");
  });

  test("is down at the start is store_unavailable, and used as soon as it is up", async (t) => {
    const server = await startRedis(t);
    await server.kill();
    const store = connect(t, server.port);
    await unavailableInTime(() => store.current("1"));
    await server.restart();
    await heals(store, 5000);
  });

  test("is read-only refuses a login as store_unavailable", async (t) => {
    const server = await startRedis(t);
    const store = connect(t, server.port);
    await store.replace("1", "a", 60);
    await server.client(t).replicaof("127.0.0.1", 1);
    await unavailableInTime(() => store.replace("1", "b", 60));
    await unavailableInTime(() => store.removeIf("1", "a"));
  });

  test("is full refuses a login as store_unavailable", async (t) => {
    const server = await startRedis(t);
    const store = connect(t, server.port);
    await server.client(t).config("SET", "maxmemory", "1");
    await unavailableInTime(() => store.replace("1", "a", 60));
  });

  test("requires a password accepts the right one, and is store_unavailable with a wrong one or none", async (t) => {
    const server = await startRedis(t, { password: "redis password" });
    const store = connect(t, server.port, { password: "redis password" });
    await store.replace("1", "a", 60);
    assert.equal(await store.current("1"), "a");
    await unavailableInTime(() => connect(t, server.port, { password: "wrong" }).current("1"));
    await unavailableInTime(() => connect(t, server.port).current("1"));
  });
});
