import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { createThrottle, type RunTask } from "../../../src/auth/throttle/rules.ts";
import { STALE_ATTEMPT_MS, type ThrottleStore, WINDOW_MS } from "../../../src/auth/throttle/store.ts";
import { createConcurrencyLimit } from "../../../src/lib/concurrency-limit.ts";
import type { RedisOptions } from "../../../src/redis/client.ts";
import { createRedisThrottleStore } from "../../../src/redis/throttle.ts";
import { knownAddressContract } from "../../contract/known-address.ts";
import { throttleStoreContract } from "../../contract/throttle-store.ts";
import { needsRedis } from "../../helpers/back-end.ts";
import { failsWith } from "../../helpers/fails-with.ts";
import { onePerson } from "../../helpers/people.ts";
import { ownerOf, type RedisProcess, startCluster, startRedis } from "../../helpers/redis.ts";
import { cluster, openOnRedis, SHORT_MS, single } from "../../helpers/redis-store.ts";
import { endOfSuite } from "../../helpers/several-servers.ts";
import type { Cleanup } from "../../helpers/temp-dir.ts";
import { isWell, until } from "../../helpers/until.ts";

const NOW = 1_800_000_000_000;
const ONE = [{ bucket: "a", limit: 1 }];

const HURRIED = { timeoutMs: SHORT_MS };

function open(context: Cleanup, server: RedisProcess, options: Partial<RedisOptions> = {}): ThrottleStore {
  return createRedisThrottleStore(openOnRedis(context, single(server), options).connection);
}

const answers = (store: ThrottleStore) => until(() => isWell(() => store.retryAfterMs(ONE, NOW)));

suite("the throttle on Redis", needsRedis(), () => {
  const cleanup = endOfSuite(after);
  let nodes: RedisProcess[];
  before(async () => {
    nodes = await startCluster(cleanup);
  });

  /** A store on an empty cluster. */
  async function openOnCluster(t: Cleanup): Promise<ThrottleStore> {
    for (const node of nodes) await node.client(t).flushall();
    return createRedisThrottleStore(openOnRedis(t, cluster(nodes)).connection);
  }

  throttleStoreContract("Redis", async (t) => open(t, await startRedis(t)));
  knownAddressContract("Redis", async (t) => open(t, await startRedis(t)));
  knownAddressContract("a Redis cluster", openOnCluster);

  test("is shared by all processes: parallel reservations never exceed the limit", async (t) => {
    const server = await startRedis(t);
    const stores = [open(t, server), open(t, server)];
    const buckets = [
      { bucket: "pair", limit: 10 },
      { bucket: "email", limit: 100 },
    ];
    const outcomes = await Promise.all(
      Array.from({ length: 60 }, (_, index) => (stores[index % 2] as ThrottleStore).reserve(buckets, NOW)),
    );
    assert.equal(outcomes.filter(({ outcome }) => outcome === "reserved").length, 10);
  });

  test("shares failures and known addresses between processes", async (t) => {
    const server = await startRedis(t);
    const [one, other] = [open(t, server), open(t, server)];
    const reservation = await one.reserve(ONE, NOW);
    assert.equal(reservation.outcome, "reserved");
    if (reservation.outcome === "reserved") await one.fail(reservation.ids, NOW);
    assert.equal(await other.retryAfterMs(ONE, NOW), WINDOW_MS);
    await one.remember("a", NOW);
    assert.equal(await other.isKnown("a", NOW), true);
  });

  test("releases the places of a killed process of the same server, and no others", async (t) => {
    const redis = await startRedis(t);
    const as = (server: string) => createRedisThrottleStore(openOnRedis(t, single(redis)).connection, server);
    const two = [{ bucket: "a", limit: 2 }];
    const killed = as("one");
    assert.equal((await killed.reserve(two, NOW)).outcome, "reserved");
    assert.equal((await as("other").reserve(two, NOW)).outcome, "reserved");
    assert.equal((await as("another").reserve(two, NOW)).outcome, "wait");

    const again = as("one");
    assert.equal(await again.retryAfterMs(two, NOW), 0);
    assert.equal((await again.reserve(two, NOW)).outcome, "reserved");
    assert.equal((await again.reserve(two, NOW)).outcome, "wait");
    assert.equal(await again.failures("a", NOW + STALE_ATTEMPT_MS), 2);
  });

  for (const [what, skewMs, laterMs] of [
    ["six minutes ahead", 6 * 60_000, 0],
    ["55 s ahead", 55_000, 251_000],
    ["six minutes behind", -6 * 60_000, 0],
  ] as const) {
    test(`keeps a server's failures when another server's clock is ${what}`, async (t) => {
      const server = await startRedis(t);
      const [one, other] = [open(t, server), open(t, server)];
      const failAt = async (store: ThrottleStore, now: number, bucket = "pair") => {
        const reservation = await store.reserve([{ bucket, limit: 10 }], now);
        if (reservation.outcome === "reserved") await store.fail(reservation.ids, now);
        return reservation.outcome;
      };
      for (let i = 0; i < 10; i++) assert.equal(await failAt(one, NOW), "reserved");
      await failAt(other, NOW + laterMs + skewMs);
      await failAt(other, NOW + laterMs + skewMs, "another");
      assert.equal(await failAt(one, NOW + laterMs), "throttled");
      await one.clear("all");
      assert.equal(await failAt(one, NOW + laterMs), "reserved");
    });
  }

  test("sets an expiry on every key", async (t) => {
    const server = await startRedis(t);
    const store = open(t, server);
    const reservation = await store.reserve(ONE, NOW);
    if (reservation.outcome === "reserved") await store.fail(reservation.ids, NOW);
    await store.reserve([{ bucket: "b", limit: 1 }], NOW);
    await store.remember("a", NOW);
    const client = server.client(t);
    const keys = await client.keys("*");
    assert.equal(keys.length, 4);
    for (const key of keys) assert.ok((await client.pttl(key)) > 0, key);
  });

  test("takes places in several buckets at once on a cluster", async (t) => {
    const store = await openOnCluster(t);
    const buckets = ["a", "b", "c", "d"].map((bucket) => ({ bucket, limit: 1 }));
    const reservation = await store.reserve(buckets, NOW);
    assert.equal(reservation.outcome, "reserved");
    if (reservation.outcome === "reserved") await store.fail(reservation.ids, NOW);
    for (const bucket of buckets) assert.equal(await store.retryAfterMs([bucket], NOW), WINDOW_MS);
    await store.remember("a", NOW);
    assert.equal(await store.isKnown("a", NOW), true);
  });

  test("is unavailable while Redis is, and goes on counting when Redis is back", async (t) => {
    const server = await startRedis(t);
    assert.equal((await open(t, server).reserve(ONE, NOW)).outcome, "reserved");
    const store = open(t, server, HURRIED);
    await answers(store);
    server.pause();
    await failsWith("store_unavailable", store.retryAfterMs(ONE, NOW));
    await failsWith("store_unavailable", store.reserve(ONE, NOW));
    server.resume();
    await until(() =>
      store.reserve(ONE, NOW).then(
        ({ outcome }) => outcome === "wait",
        () => false,
      ),
    );
  });

  test("releases places and counts failures after an outage during which Redis missed them", async (t) => {
    const server = await startRedis(t);
    const [store, look] = [open(t, server, HURRIED), open(t, server)];
    const take = (bucket: string) =>
      until(async () => {
        const reservation = await store.reserve([{ bucket, limit: 2 }], NOW).catch(() => null);
        return reservation?.outcome === "reserved" ? reservation.ids : null;
      });
    const [right, wrong] = [await take("right"), await take("wrong")];
    server.pause();
    await Promise.all([
      failsWith("store_unavailable", store.release(right)),
      failsWith("store_unavailable", store.fail(wrong, NOW)),
      failsWith("store_unavailable", store.reserve([{ bucket: "asked", limit: 2 }], NOW)),
    ]);
    server.resume();
    const later = NOW + STALE_ATTEMPT_MS;
    await until(async () => {
      await answers(store);
      const failures = await Promise.all(["right", "wrong", "asked"].map((bucket) => look.failures(bucket, later)));
      return failures.join() === "0,1,0";
    });
  });

  test("that hangs does not delay queued attempts longer than the running one", async (t) => {
    const own = await startCluster(t);
    const [patient, store] = [{}, HURRIED].map((options) =>
      createRedisThrottleStore(openOnRedis(t, cluster(own), options).connection),
    ) as [ThrottleStore, ThrottleStore];
    // Also on a machine that stalls, the attempts get as far as to be queued.
    const reserve: ThrottleStore["reserve"] = (...of) => until(() => store.reserve(...of).catch(() => null));
    const throttle = createThrottle({ ...store, isKnown: patient.isKnown, reserve }, onePerson());
    const limit = createConcurrencyLimit({ width: 1, queueLimit: 20 });
    const gate = Promise.withResolvers<boolean>();
    let queued = 0;
    const runTask: RunTask = (task) => {
      queued++;
      return limit.run(task);
    };
    const verify = () => gate.promise;
    const attempts = Array.from({ length: 10 }, (_, n) =>
      throttle.attempt("192.0.2.1", `${n}@example.com`, verify, { runTask }),
    );
    const refused = Promise.all(attempts.map((attempt) => failsWith("store_unavailable", attempt)));
    await until(() => queued === attempts.length);
    const owner = await until(() => ownerOf(t, own, "authserve:throttle:{login}:buckets").catch(() => null));
    owner.pause();
    gate.resolve(true);
    // Each one that asked Redis itself would have an error of its own, after a time-out of its own.
    assert.equal(new Set(await refused).size, 1);
    owner.resume();
  });

  test("that refuses writes is not flooded with retries", async (t) => {
    const server = await startRedis(t);
    const store = open(t, server);
    const reservation = await store.reserve([{ bucket: "held", limit: 2 }], NOW);
    assert.equal(reservation.outcome, "reserved");
    const look = server.client(t);
    await look.call("ACL", "SETUSER", "default", "-zadd", "-zrem");
    await failsWith("store_unavailable", store.release(reservation.ids));
    await look.config("RESETSTAT");
    for (let login = 0; login < 50; login++) {
      assert.equal(await store.retryAfterMs(ONE, NOW), 0);
      await failsWith("store_unavailable", store.reserve(ONE, NOW));
    }
    const calls = /^cmdstat_eval:calls=([0-9]+)/m.exec(await look.info("commandstats"))?.[1];
    // Two calls of each login, and at most two retries for the place that is still held.
    assert.ok(Number(calls) >= 100 && Number(calls) <= 200, String(calls));
    await look.call("ACL", "SETUSER", "default", "+zadd", "+zrem");
    await store.retryAfterMs(ONE, NOW);
    await until(async () => (await look.zcard("authserve:throttle:{login}:held")) === 0);
  });

  test("that is full refuses attempts, because they could not be counted", async (t) => {
    const server = await startRedis(t);
    const store = open(t, server);
    await store.retryAfterMs(ONE, NOW);
    await server.client(t).config("SET", "maxmemory", "1");
    await failsWith("store_unavailable", store.reserve(ONE, NOW));
    assert.equal(await store.retryAfterMs(ONE, NOW), 0);
  });

  test("counts failures of a server whose clock is slightly ahead, for no longer than the window", async (t) => {
    const server = await startRedis(t);
    const [ahead, store] = [open(t, server), open(t, server)];
    const reservation = await ahead.reserve(ONE, NOW + 2000);
    assert.equal(reservation.outcome, "reserved");
    await ahead.fail(reservation.ids, NOW + 2000);
    assert.equal(await store.retryAfterMs(ONE, NOW), WINDOW_MS);
  });
});
