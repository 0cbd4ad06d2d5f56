import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { SubscriptionStore } from "../../src/webhook/subscriptions/store.ts";
import type { Cleanup } from "../helpers/temp-dir.ts";

/** The contract of every store of subscriptions. `open` returns an empty one, which is closed after the test. */
export function subscriptionStoreContract(
  adapter: string,
  open: (context: Cleanup) => Promise<SubscriptionStore>,
): void {
  suite(`subscription store: ${adapter}`, () => {
    test("the subscription of each source is kept with every member, and replaced", async (t) => {
      const store = await open(t);
      assert.equal(await store.read("graph"), null);
      const first = {
        id: "ñ",
        resource: null,
        startedAt: 1_800_000_000_000,
        expiresAt: 8.64e15,
        triedAt: 0,
        error: "it's 404",
      };
      await store.save("graph", first);
      await store.save("other", { ...first, id: null });
      await store.save("graph", { ...first, error: null });
      assert.deepEqual(await store.read("graph"), { ...first, error: null });
      assert.equal((await store.read("other"))?.id, null);
    });
  });
}
