import assert from "node:assert/strict";
import { after, before, beforeEach, suite, test } from "node:test";
import type { Redis } from "ioredis";
import { SETTINGS } from "../../../src/config/settings.ts";
import { needsRedis } from "../../helpers/back-end.ts";
import { beginToMove, clusterIsWhole, nodeOf, ownerOf, type RedisProcess, startCluster } from "../../helpers/redis.ts";
import { cluster, heals, openOnRedis, SHORT_MS, unavailable } from "../../helpers/redis-store.ts";
import { endOfSuite } from "../../helpers/several-servers.ts";
import { isWell, until } from "../../helpers/until.ts";

const HOME = { network: "203.0.113.0/24", userAgent: "Firefox" };

const HURRIED = { timeoutMs: SHORT_MS };

suite("a Redis cluster", needsRedis(), () => {
  const cleanup = endOfSuite(after);
  let nodes: RedisProcess[];
  let clients: Redis[];
  before(async () => {
    nodes = await startCluster(cleanup);
    clients = nodes.map((node) => node.client(cleanup));
  });
  beforeEach(async () => {
    for (const client of clients) await client.flushall();
  });

  test("serves a user with the rights in the documentation of REDIS_USERNAME", async (t) => {
    const listed = /`~authserve:\* ([^`]+)`.* in a cluster also `([^`]+)`/.exec(SETTINGS.REDIS_USERNAME.meaning);
    const rights = `${listed?.[1]} ${listed?.[2]}`.split(" ");
    for (const node of nodes) {
      await node.client(t).call("ACL", "SETUSER", "service", "on", ">its-password", "~authserve:*", ...rights);
    }
    const { store } = openOnRedis(t, cluster(nodes), { username: "service", password: "its-password" });
    await store.replace("1", "a", 60);
    assert.equal(await store.current("1"), "a");
    assert.equal(await store.removeIf("1", "a"), true);
  });

  test("holds sessions on all its nodes", async (t) => {
    const { store, ups } = openOnRedis(t, cluster(nodes.slice(0, 1)));
    const users = Array.from({ length: 30 }, (_, index) => `user-${index}`);
    for (const user of users) await store.replace(user, `sid of ${user}`, 60);
    for (const user of users) assert.equal(await store.current(user), `sid of ${user}`);
    const sizes = await Promise.all(nodes.map((node) => node.client(t).dbsize()));
    assert.ok(
      sizes.every((size) => size > 0),
      sizes.join(),
    );
    assert.equal(await store.removeIf("user-1", "sid of user-1"), true);
    assert.equal((await store.find("user-2"))?.sid, "sid of user-2");
    assert.equal(ups.length, 1);
  });

  test("that has lost a node is unavailable, and works again when the node is back", async (t) => {
    const { store } = openOnRedis(t, cluster(nodes), HURRIED);
    await until(() => isWell(() => store.replace("1", "a", 60)));
    const owner = await ownerOf(t, nodes, "authserve:session:1");
    await owner.kill();
    await unavailable(() => store.current("1"));
    await unavailable(() => store.replace("1", "b", 60));
    await owner.restart();
    await clusterIsWhole(t, nodes);
    await heals(store);
    await until(() => isWell(() => store.replace("1", "b", 60)));
    await until(async () => (await store.current("1").catch(() => null)) === "b");
  });

  test("with a node that hangs is unavailable, and works again when it resumes", async (t) => {
    const { store } = openOnRedis(t, cluster(nodes), HURRIED);
    await until(() => isWell(() => store.replace("1", "a", 600)));
    const owner = await ownerOf(t, nodes, "authserve:session:1");
    owner.pause();
    t.after(owner.resume);
    for (let round = 0; round < 3; round++) await unavailable(() => store.current("1"));
    owner.resume();
    await clusterIsWhole(t, nodes);
    await until(async () => (await store.current("1").catch(() => null)) === "a");
  });

  test("with a node that comes back with old data rejects sessions of an earlier password", async (t) => {
    const { store: old } = openOnRedis(t, cluster(nodes));
    await old.bind("1", "old password");
    await old.replace("1", "a", 600);
    const owner = await ownerOf(t, nodes, "authserve:session:1");
    await owner.client(t).save();
    const { store } = openOnRedis(t, cluster(nodes));
    // A new cluster may close the first connection.
    await until(() => isWell(() => store.current("1")));
    assert.equal(await store.bind("1", "new password"), true);
    await owner.kill();
    await owner.restart();
    await clusterIsWhole(t, nodes);
    assert.equal(await owner.client(t).get("authserve:session:1"), "a");
    await until(() => isWell(() => store.current("1")));
    assert.equal(await store.current("1"), null);
  });

  test("never executes a command later that it has reported as unavailable", async (t) => {
    const { store } = openOnRedis(t, cluster(nodes), HURRIED);
    await until(() => isWell(() => store.replace("1", "a", 600)));
    const owner = await ownerOf(t, nodes, "authserve:session:1");
    const look = owner.client(t);
    owner.pause();
    t.after(owner.resume);
    await Promise.all([1, 2, 3].map((login) => unavailable(() => store.replace("1", `late ${login}`, 600))));
    owner.resume();
    await until(() => isWell(() => store.replace("1", "b", 600)));
    // The driver itself would retry for this long.
    const endsAt = performance.now() + 2000;
    while (performance.now() < endsAt) assert.equal(await look.get("authserve:session:1"), "b");
  });
});

suite("a Redis cluster that does not become whole again", needsRedis(), () => {
  test("that is moving the session's slot accepts logins", async (t) => {
    const nodes = await startCluster(t);
    const { store } = openOnRedis(t, cluster(nodes));
    await store.bind("1", "credential");
    await store.replace("1", "a", 600, HOME);
    const { source, target } = await beginToMove(t, nodes, "authserve:session:1");
    assert.equal((await store.replace("1", "b", 600, HOME)).wasLive, true);
    assert.equal(await store.current("1"), "b");
    assert.equal(await source.client(t).get("authserve:session:1"), "b");
    assert.equal(await target.client(t).dbsize(), 0);
    await store.check("1");
  });

  test("that has lost a node refuses logins that need that node, for the session or the throttle", async (t) => {
    const refuses = async (lost: "session" | "throttle" | "other") => {
      const nodes = await startCluster(t, ["--cluster-require-full-coverage", "no"]);
      const { store } = openOnRedis(t, cluster(nodes), HURRIED);
      await until(() => isWell(() => store.check("3")));
      const session = await nodeOf(t, nodes, "authserve:session:3");
      const throttle = await nodeOf(t, nodes, "authserve:throttle:{login}");
      const other = nodes.find((node) => node !== session && node !== throttle) as RedisProcess;
      assert.notEqual(session, throttle);
      await { session, throttle, other }[lost].kill();
      if (lost === "other") await until(() => isWell(() => store.check("3")));
      else for (let round = 0; round < 3; round++) await unavailable(() => store.check("3"));
    };
    await Promise.all([refuses("session"), refuses("throttle"), refuses("other")]);
  });
});
