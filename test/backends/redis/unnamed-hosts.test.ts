import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Redis } from "ioredis";
import { openClient } from "../../../src/redis/client.ts";
import { needsRedis } from "../../helpers/back-end.ts";
import { beginToMove, redisMajor, startCluster, startLoneNode } from "../../helpers/redis.ts";
import { cluster, openOnRedis } from "../../helpers/redis-store.ts";
import { HANG_MS, isWell, until } from "../../helpers/until.ts";

const KEY = "authserve:session:1";
const UNKNOWN = ["--cluster-preferred-endpoint-type", "unknown-endpoint"];
const needsUnknownEndpoints = () => ({
  skip: redisMajor() < 7 && "only Redis 7 and newer hide the endpoints of nodes",
});

suite("a cluster that names no hosts", needsRedis(), () => {
  test("holds sessions on a single node that has met no other", async (t) => {
    const { store, downs } = openOnRedis(t, cluster([await startLoneNode(t)]));
    await store.replace("1", "a", 60);
    assert.equal(await store.current("1"), "a");
    assert.deepEqual(downs, []);
  });

  test("holds sessions on all its nodes when their endpoints are unknown", needsUnknownEndpoints(), async (t) => {
    const nodes = await startCluster(t, UNKNOWN);
    const { store } = openOnRedis(t, cluster(nodes.slice(0, 1)));
    const users = Array.from({ length: 30 }, (_, index) => `user-${index}`);
    for (const user of users) await store.replace(user, `sid of ${user}`, 60);
    for (const user of users) assert.equal(await store.current(user), `sid of ${user}`);
    for (const node of nodes) assert.ok((await node.client(t).dbsize()) > 0);
  });

  test("is reached at the host that was asked, also after a redirection", needsUnknownEndpoints(), async (t) => {
    const nodes = await startCluster(t, UNKNOWN);
    // Not 127.0.0.1, which ioredis uses when no host is named.
    const asked = nodes.slice(0, 1).map(({ port }) => ({ host: "localhost", port }));
    const servers = { kind: "cluster", nodes: asked } as const;
    const { client, close } = openClient({ servers, keyPrefix: "authserve:", timeoutMs: HANG_MS });
    t.after(close);
    const hosts = new Set<string | undefined>();
    client.on("+node", ({ options }: Redis) => hosts.add(options.host));
    await until(() => isWell(() => client.set(KEY, "a")));

    const { source, target } = await beginToMove(t, nodes, KEY);
    const [from, to] = [source.client(t), target.client(t)];
    await from.migrate("127.0.0.1", target.port, KEY, 0, HANG_MS);
    await assert.rejects(from.get(KEY), /^ReplyError: ASK [0-9]+ :[0-9]+$/);
    assert.equal(await client.get(KEY), "a");

    const slot = await from.cluster("KEYSLOT", KEY);
    const id = await to.cluster("MYID");
    for (const node of [to, from]) await node.cluster("SETSLOT", slot, "NODE", id);
    await assert.rejects(from.get(KEY), /^ReplyError: MOVED [0-9]+ :[0-9]+$/);
    assert.equal(await client.get(KEY), "a");
    assert.deepEqual(hosts, new Set(["localhost"]));
  });
});
