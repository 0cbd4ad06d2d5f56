import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { failsWith } from "../../helpers/fails-with.ts";
import { startFakeCluster } from "../../helpers/fake-redis.ts";
import { openOnRedis } from "../../helpers/redis-store.ts";
import { isWell, never, until } from "../../helpers/until.ts";

const REFUSALS = ["-TRYAGAIN Multiple keys request during rehashing of slot", "-CLUSTERDOWN The cluster is down"];

suite("a command that a cluster refuses for the moment", () => {
  for (const refusal of REFUSALS) {
    const [code] = refusal.slice(1).split(" ");

    test(`with ${code} is retried`, async (t) => {
      const fake = await startFakeCluster(t, (nth) => (nth === 1 ? refusal : ":1"));
      const { store } = openOnRedis(t, fake.servers);
      assert.equal((await store.replace("1", "a", 60)).wasLive, true);
      assert.equal(fake.scripts(), 2);
    });

    test(`with ${code} is not retried once the caller has its error`, async (t) => {
      const fake = await startFakeCluster(t, () => refusal);
      const { store, connection } = openOnRedis(t, fake.servers, { timeoutMs: 250 });
      // On a machine that stalls, the time may be over before the command is sent.
      await until(async () => {
        await failsWith("store_unavailable", store.replace("1", "a", 60));
        return fake.scripts() > 0;
      });
      // Answered after every command sent before.
      await until(() => isWell(() => connection.ask((client) => client.get("authserve:session:1"))));
      const asked = fake.scripts();
      await never(() => fake.scripts() !== asked, 500);
    });
  }
});
