import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { suite, test } from "node:test";
import type { Redis } from "ioredis";
import type { SessionStore } from "../../../src/auth/sessions.ts";
import { needsRedis } from "../../helpers/back-end.ts";
import { type RedisProcess, startRedis, startReplicated, startSentinel, TLS_CERT_FILE } from "../../helpers/redis.ts";
import {
  addressOf,
  allUnavailable,
  heals,
  openOnRedis,
  SHORT_MS,
  single,
  unavailable,
} from "../../helpers/redis-store.ts";
import type { Cleanup } from "../../helpers/temp-dir.ts";
import { isWell, until } from "../../helpers/until.ts";

// The rights in the documentation of REDIS_USERNAME, without the optional one.
const PERMISSIONS = ["+@read", "+@write", "+eval", "+ping"];

const onRedis = needsRedis();

suite("session store on Redis", onRedis, () => {
  test("keeps one key per user: its value the sid, its expiry the lifetime, its name after the prefix", async (t) => {
    const server = await startRedis(t);
    const { store } = openOnRedis(t, single(server), { keyPrefix: "other:" });
    await store.replace("1", "a", 900);
    const client = server.client(t);
    assert.deepEqual(await client.keys("*"), ["other:session:1"]);
    assert.equal(await client.get("other:session:1"), "a");
    const ttl = await client.ttl("other:session:1");
    assert.ok(ttl > 800 && ttl <= 900, String(ttl));
  });

  test("reports version and eviction policy once", async (t) => {
    const server = await startRedis(t, { args: ["--maxmemory-policy", "allkeys-lru"] });
    const { store, ups } = openOnRedis(t, single(server));
    await store.check("1");
    assert.match(ups[0]?.version ?? "", /^(?:Redis|Valkey) [0-9]+\./);
    assert.equal(ups[0]?.evictionPolicy, "allkeys-lru");
    assert.equal(ups.length, 1);
  });

  test("accepts a password, with or without a user, and is unavailable with a wrong one or none", async (t) => {
    const server = await startRedis(t, { password: "long password" });
    const admin = server.client(t);
    await admin.call("ACL", "SETUSER", "auth", "on", ">own password", "~authserve:*", ...PERMISSIONS);
    const right = [{ password: "long password" }, { username: "auth", password: "own password" }];
    for (const access of right) {
      const { store } = openOnRedis(t, single(server), access);
      await store.replace("1", "a", 60);
      assert.equal(await store.current("1"), "a");
    }
    for (const access of [{}, { password: "wrong" }, { username: "auth", password: "wrong" }]) {
      await allUnavailable(openOnRedis(t, single(server), access).store);
    }
  });

  test("uses only its own database", async (t) => {
    const server = await startRedis(t);
    const { store } = openOnRedis(t, single(server), { db: 3 });
    await store.replace("1", "a", 60);
    const client = server.client(t);
    assert.equal(await client.dbsize(), 0);
    await client.select(3);
    assert.equal(await client.dbsize(), 1);
  });

  test("without the configured database is unavailable, and says why", async (t) => {
    const server = await startRedis(t, { args: ["--databases", "4"] });
    const { store, downs } = openOnRedis(t, single(server), { db: 7 });
    await allUnavailable(store);
    assert.match(downs.join(), /DB index is out of range/);
    assert.equal(await server.client(t).dbsize(), 0);
  });

  test("whose user may not select the database is unavailable, and works once it may", async (t) => {
    const server = await startRedis(t);
    const admin = server.client(t);
    const rights = ["on", ">its-password", "~authserve:*", "+@read", "+@write", "+eval", "+ping"];
    await admin.call("ACL", "SETUSER", "service", ...rights);
    const { store } = openOnRedis(t, single(server), { db: 2, username: "service", password: "its-password" });
    await allUnavailable(store);
    await admin.call("ACL", "SETUSER", "service", "+select");
    await heals(store);
    await store.replace("1", "a", 60);
    assert.equal(await admin.dbsize(), 0);
  });

  test("works when INFO is renamed", async (t) => {
    const server = await startRedis(t, { args: ["--rename-command", "INFO", ""] });
    const { store, ups } = openOnRedis(t, single(server));
    await store.replace("1", "a", 60);
    assert.deepEqual(ups, [{ version: null, evictionPolicy: null }]);
  });

  test("uses TLS with a certificate that it can verify, and refuses any other", async (t) => {
    const server = await startRedis(t, { tls: true });
    const { store } = openOnRedis(t, single(server), { tls: { ca: readFileSync(TLS_CERT_FILE, "utf8") } });
    await store.replace("1", "a", 60);
    assert.equal(await store.current("1"), "a");
    await allUnavailable(openOnRedis(t, single(server), { tls: {} }).store);
    await allUnavailable(openOnRedis(t, single(server)).store);
  });
});

suite("a Redis behind a sentinel", onRedis, () => {
  /** Makes a sentinel replace a master by its replica, and waits until it names the replica. */
  async function failOver(t: Cleanup, sentinel: RedisProcess, master: string, replica: RedisProcess): Promise<void> {
    const watcher = sentinel.client(t);
    // It refuses until it knows enough about the replica.
    await until(() => isWell(() => watcher.call("SENTINEL", "FAILOVER", master)));
    const named = async () => (await watcher.call("SENTINEL", "GET-MASTER-ADDR-BY-NAME", master)) as string[];
    await until(async () => (await named())[1] === String(replica.port));
  }

  /** Waits until logins are stored there. */
  async function writesTo(store: SessionStore, successor: Redis): Promise<void> {
    let round = 0;
    await until(async () => {
      const sid = `b${++round}`;
      await store.replace("1", sid, 600).catch(() => {});
      return (await successor.get("authserve:session:1")) === sid;
    });
  }

  test("is found, and after a failover the new master is found", async (t) => {
    const { master, replica, sentinel } = await startSentinel(t);
    const { store } = openOnRedis(t, { kind: "sentinels", sentinels: [addressOf(sentinel)], master: "mymaster" });
    await store.replace("1", "a", 600);
    assert.equal(await master.client(t).get("authserve:session:1"), "a");
    const successor = replica.client(t);
    await until(async () => (await successor.get("authserve:session:1")) === "a");
    await master.kill();
    await unavailable(() => store.current("1"));
    await failOver(t, sentinel, "mymaster", replica);
    await heals(store);
    assert.equal(await store.current("1"), "a");
    assert.equal((await store.replace("1", "b", 600)).wasLive, true);
    assert.equal(await successor.get("authserve:session:1"), "b");
  });

  test("is left for the new master as soon as the sentinels name it, even while the old one is up", async (t) => {
    const { replica, sentinel } = await startSentinel(t);
    const { store } = openOnRedis(t, { kind: "sentinels", sentinels: [addressOf(sentinel)], master: "mymaster" });
    await store.replace("1", "a", 600);
    await failOver(t, sentinel, "mymaster", replica);
    await writesTo(store, replica.client(t));
  });

  test("is left for the new master also when the sentinel has just restarted", async (t) => {
    const { replica, sentinel } = await startSentinel(t);
    const { store } = openOnRedis(t, { kind: "sentinels", sentinels: [addressOf(sentinel)], master: "mymaster" });
    await store.replace("1", "a", 600);
    await sentinel.kill();
    await sentinel.restart();
    await failOver(t, sentinel, "mymaster", replica);
    await writesTo(store, replica.client(t));
  });

  test("is kept after a failover of another master", async (t) => {
    const { sentinel } = await startSentinel(t);
    const { master, replica } = await startReplicated(t);
    await sentinel.client(t).call("SENTINEL", "MONITOR", "other", "127.0.0.1", String(master.port), "1");
    const { store, downs } = openOnRedis(t, {
      kind: "sentinels",
      sentinels: [addressOf(sentinel)],
      master: "mymaster",
    });
    await store.replace("1", "a", 600);
    let isOver = false;
    const failover = failOver(t, sentinel, "other", replica).finally(() => {
      isOver = true;
    });
    while (!isOver) assert.equal(await store.current("1"), "a");
    await failover;
    // The sentinel is asked a few times more.
    const endsAt = performance.now() + 1500;
    while (performance.now() < endsAt) assert.equal(await store.current("1"), "a");
    assert.deepEqual(downs, []);
  });

  test("is found through sentinels with a password, and not without the password", async (t) => {
    const { sentinel } = await startSentinel(t, "sentinels-only");
    const at = (password?: string) =>
      openOnRedis(
        t,
        { kind: "sentinels", sentinels: [addressOf(sentinel)], master: "mymaster", password },
        password === undefined ? { timeoutMs: SHORT_MS } : {},
      ).store;
    const store = at("sentinels-only");
    await store.replace("1", "a", 60);
    assert.equal(await store.current("1"), "a");
    await allUnavailable(at());
  });

  test("is unavailable while no sentinel answers", async (t) => {
    const gone = await startRedis(t);
    await gone.kill();
    await allUnavailable(
      openOnRedis(t, { kind: "sentinels", sentinels: [addressOf(gone)], master: "mymaster" }, { timeoutMs: SHORT_MS })
        .store,
    );
  });
});
