import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { createPostgresLeases, createPostgresNodeStore } from "../../../src/postgres/nodes.ts";
import { needsPostgres } from "../../helpers/back-end.ts";
import { reusedPostgres } from "../../helpers/postgres.ts";
import { until } from "../../helpers/until.ts";

const node = (id: string, url = `http://${id}:3000`) => ({ id, host: "one", url, version: "1.2.3" });

suite("the servers of a PostgreSQL database", needsPostgres(), () => {
  test("are listed with their heartbeats, by the database's clock", async (t) => {
    const store = createPostgresNodeStore((await reusedPostgres(t)).postgres);
    const startedAt = Date.now();
    assert.equal(await store.beat({ node: node("b"), dueAt: startedAt - 500, clock: startedAt + 90_000 }), 1);
    assert.equal(await store.beat({ node: node("a"), dueAt: startedAt + 60_000, clock: startedAt }), 2);
    const [a, b] = await store.list();
    const tookMs = Date.now() - startedAt + 1000;
    assert.deepEqual(
      [a?.id, a?.url, a?.version, a?.isAlive, a?.lagMs, b?.id],
      ["a", "http://a:3000", "1.2.3", true, 0, "b"],
    );
    assert.ok(b && b.lagMs >= 500 && b.lagMs < 500 + tookMs, String(b?.lagMs));
    assert.ok(b.clockOffsetMs > 90_000 - tookMs && b.clockOffsetMs <= 90_000, String(b.clockOffsetMs));
    await store.beat({ node: node("b"), dueAt: Date.now(), clock: Date.now() });
    const again = (await store.list())[1];
    assert.ok(again && again.startedAt === b.startedAt && again.seenAt >= b.seenAt);
  });

  test("that start at once count each other", async (t) => {
    const { postgres } = await reusedPostgres(t);
    const store = createPostgresNodeStore(postgres);
    const counts = await Promise.all(
      Array.from({ length: 8 }, (_, n) => store.beat({ node: node(`n${n}`), dueAt: 0, clock: 0 })),
    );
    const sorted = counts.toSorted();
    assert.ok(
      sorted.every((count, n) => count > n),
      sorted.join(),
    );
    assert.equal(sorted.at(-1), 8);
  });

  test("are dead 15 s after their last heartbeat, and forgotten after a day, or when one starts in their place", async (t) => {
    const { postgres } = await reusedPostgres(t);
    const store = createPostgresNodeStore(postgres);
    const beat = (id: string, url?: string) => store.beat({ node: node(id, url), dueAt: 0, clock: 0 });
    for (const id of ["dead", "old", "replaced"]) await beat(id);
    await postgres.run("UPDATE authserve.nodes SET seen_at = seen_at - 15001");
    await postgres.run("UPDATE authserve.nodes SET seen_at = seen_at - 86400000 WHERE id = 'old'");
    assert.equal(await beat("successor", "http://replaced:3000"), 1);
    const listed = (await store.list()).map(({ id, isAlive }) => [id, isAlive]);
    assert.deepEqual(listed, [
      ["dead", false],
      ["successor", true],
    ]);
    await store.leave("successor");
    assert.deepEqual((await store.list()).length, 1);
  });

  test("share leases: one holds each, until it ends", async (t) => {
    const { postgres } = await reusedPostgres(t);
    const leases = createPostgresLeases(postgres);
    const taken = await Promise.all(Array.from({ length: 8 }, (_, n) => leases.acquire("purge", `n${n}`, 60_000)));
    assert.equal(taken.filter(Boolean).length, 1);
    const holder = `n${taken.indexOf(true)}`;
    assert.equal(await leases.acquire("other work", "n0", 60_000), true);
    assert.equal(await leases.acquire("purge", "another", 60_000), false);
    assert.equal(await leases.acquire("purge", holder, 50), true);
    await until(() => leases.acquire("purge", "another", 60_000));
    assert.equal(await leases.acquire("purge", holder, 60_000), false);
  });
});
