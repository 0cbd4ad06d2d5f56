import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import type { SessionStore } from "../../../src/auth/sessions.ts";
import { sessionStoreContract } from "../../contract/session-store.ts";
import { needsRedis } from "../../helpers/back-end.ts";
import { type RedisProcess, startRedis } from "../../helpers/redis.ts";
import { openOnRedis, single } from "../../helpers/redis-store.ts";
import { endOfSuite } from "../../helpers/several-servers.ts";
import type { Cleanup } from "../../helpers/temp-dir.ts";

const KEY = "authserve:session:1";

suite("on one Redis", needsRedis(), () => {
  const cleanup = endOfSuite(after);
  let server: RedisProcess;
  before(async () => {
    server = await startRedis(cleanup);
  });

  const connect = (t: Cleanup) => openOnRedis(t, single(server)).store;

  async function openEmpty(t: Cleanup): Promise<SessionStore> {
    await server.client(t).flushall();
    return connect(t);
  }

  sessionStoreContract("Redis", openEmpty);

  test("a session is not changed by reading", async (t) => {
    const store = await openEmpty(t);
    const client = server.client(t);
    await store.replace("1", "a", 900);
    await client.pexpire(KEY, 500_000);
    await store.current("1");
    await store.find("1");
    assert.ok((await client.pttl(KEY)) <= 500_000);
  });

  test("a hundred parallel logins at two processes leave one session", async (t) => {
    const stores = [await openEmpty(t), connect(t)];
    const sids = Array.from({ length: 50 }, (_, i) => [`x-${i}`, `y-${i}`]).flat();
    await Promise.all(sids.map((sid, i) => stores[i % 2]?.replace("1", sid, 60)));
    const [first, second] = await Promise.all(stores.map((store) => store.current("1")));
    assert.ok(first && sids.includes(first));
    assert.equal(second, first);
  });
});
