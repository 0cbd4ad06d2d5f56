import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { supersessionContract } from "../../contract/supersession.ts";
import { needsRedis } from "../../helpers/back-end.ts";
import { startCluster, startRedis } from "../../helpers/redis.ts";
import { cluster, openOnRedis, single } from "../../helpers/redis-store.ts";

const HOME = { network: "203.0.113.0/24", userAgent: "Firefox" };

suite("on Redis", needsRedis(), () => {
  supersessionContract("Redis", async (t) => openOnRedis(t, single(await startRedis(t))).store);

  test("a supersession is a separate key that expires with the superseded token", async (t) => {
    const server = await startRedis(t);
    const { store } = openOnRedis(t, single(server));
    await store.replace("1", "a", 900, HOME);
    await store.replace("1", "b", 9000, HOME);
    const client = server.client(t);
    const key = "authserve:superseded:{authserve:session:1}:a";
    const origin = "authserve:origin:{authserve:session:1}";
    assert.deepEqual((await client.keys("*")).sort(), [origin, "authserve:session:1", key]);
    const ttl = await client.ttl(key);
    assert.ok(ttl > 800 && ttl <= 900, String(ttl));
  });

  test("a value written by another program is not a supersession", async (t) => {
    const server = await startRedis(t);
    const { store } = openOnRedis(t, single(server));
    const late = '{"at":9007199254740991,"by":{"network":"n","userAgent":null}}';
    for (const text of ["", "x", "null", "{}", '{"at":"x","by":{"network":"n"}}', '{"at":1,"by":{}}', late]) {
      await server.client(t).set("authserve:superseded:{authserve:session:1}:a", text);
      assert.equal(await store.supersession("1", "a"), null, text);
    }
  });

  test("a session opened after FLUSHALL survives a restart with the same credential", async (t) => {
    const server = await startRedis(t);
    const first = openOnRedis(t, single(server)).store;
    await first.bind("1", "credential");
    await server.client(t).flushall();
    await first.replace("1", "a", 60, HOME);
    const second = openOnRedis(t, single(server)).store;
    assert.equal(await second.bind("1", "credential"), false);
    assert.equal(await second.current("1"), "a");
    assert.equal(await second.bind("1", "another"), true);
    assert.equal(await second.current("1"), null);
  });

  test("processes with different credentials ignore each other's sessions", async (t) => {
    const server = await startRedis(t);
    const old = openOnRedis(t, single(server)).store;
    const fresh = openOnRedis(t, single(server)).store;
    await old.bind("1", "old password");
    await fresh.bind("1", "new password");
    await old.replace("1", "a", 60, HOME);
    assert.deepEqual([await old.current("1"), await fresh.current("1")], ["a", null]);
    await fresh.replace("1", "b", 60, HOME);
    assert.deepEqual([await old.current("1"), await fresh.current("1")], [null, "b"]);
  });

  test("the record, supersession and credential of a user are in one cluster slot", async (t) => {
    const { store } = openOnRedis(t, cluster(await startCluster(t)));
    for (let user = 0; user < 20; user++) {
      await store.bind(`user-${user}`, "credential");
      await store.replace(`user-${user}`, "a", 60, HOME);
      await store.replace(`user-${user}`, "b", 60, HOME);
      assert.deepEqual((await store.supersession(`user-${user}`, "a"))?.by, HOME);
    }
  });
});
