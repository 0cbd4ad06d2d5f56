import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { RedisAddress } from "../../../src/redis/client.ts";
import { needsRedis } from "../../helpers/back-end.ts";
import { startFakeSentinel } from "../../helpers/fake-redis.ts";
import { startRedis } from "../../helpers/redis.ts";
import { addressOf, openOnRedis } from "../../helpers/redis-store.ts";
import type { Cleanup } from "../../helpers/temp-dir.ts";
import { isWell, until } from "../../helpers/until.ts";

suite("the master that sentinels name", needsRedis(), () => {
  async function openBehind(t: Cleanup, count: number) {
    const [old, successor] = [await startRedis(t), await startRedis(t)];
    const named: RedisAddress[] = Array.from({ length: count }, () => addressOf(old));
    const sentinels: RedisAddress[] = [];
    /** How often each sentinel was asked. */
    const asked = named.map(() => 0);
    for (const index of named.keys()) {
      const answer = () => {
        asked[index] = (asked[index] ?? 0) + 1;
        return named[index] as RedisAddress;
      };
      sentinels.push(await startFakeSentinel(t, answer));
    }
    const opened = openOnRedis(t, { kind: "sentinels", sentinels, master: "mymaster" });
    await opened.store.replace("1", "on the old", 600);

    /** Checks until each sentinel was asked four times. */
    async function staysWell(check: () => Promise<unknown>): Promise<void> {
      const enough = asked.map((times) => times + 4);
      await until(async () => {
        await check();
        return asked.every((times, index) => times >= (enough[index] ?? 0));
      });
    }

    return { ...opened, old, successor, named, staysWell };
  }

  test("changes once when the first sentinel names another, although the others lag", async (t) => {
    const { store, successor, named, ups, downs, staysWell } = await openBehind(t, 3);
    await staysWell(() => store.current("1"));
    assert.deepEqual(downs, []);
    named[1] = addressOf(successor);
    const other = successor.client(t);
    await other.set("authserve:session:1", "on the new");
    await until(async () => (await store.current("1").catch(() => null)) === "on the new");
    await staysWell(async () => assert.equal(await store.current("1"), "on the new"));
    named[2] = addressOf(successor);
    await staysWell(async () => assert.equal(await store.current("1"), "on the new"));
    assert.equal(ups.length, 2);
    assert.equal(downs.length, 1);
  });

  test("changes back when the sentinels name the old one again", async (t) => {
    const { store, old, successor, named } = await openBehind(t, 2);
    for (const now of [successor, old]) {
      named.fill(addressOf(now));
      const sid = `on ${now.port}`;
      await now.client(t).set("authserve:session:1", sid);
      await until(async () => (await store.current("1").catch(() => null)) === sid);
    }
  });

  test("is asked of the next sentinel when one names a server that is no master", async (t) => {
    const { store, old, successor, named } = await openBehind(t, 2);
    await old.client(t).call("REPLICAOF", "127.0.0.1", String(successor.port));
    named[1] = addressOf(successor);
    await until(() => isWell(() => store.replace("1", "on the new", 600)));
    assert.equal(await successor.client(t).get("authserve:session:1"), "on the new");
  });
});
