import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { KeptRefusal, RefusalStore } from "../../src/webhook/intake/refusal-store.ts";
import type { Cleanup } from "../helpers/temp-dir.ts";

const NOW = 1_800_000_000_000;

const refusal = (after: number, reason = "signature_mismatch"): KeptRefusal => ({
  receivedAt: NOW + after,
  source: "shop",
  reason,
  address: "2001:db8::1",
});

/** The contract of every store of refused deliveries. `open` returns an empty one, which is closed after the test. */
export function refusalStoreContract(adapter: string, open: (context: Cleanup) => Promise<RefusalStore>): void {
  suite(`store of refused deliveries: ${adapter}`, () => {
    test("the newest are kept, and listed the newest first, whichever way the clock went", async (t) => {
      const store = await open(t);
      assert.deepEqual(await store.list(0), []);
      const bounds = { most: 3, since: 0 };
      await store.add([refusal(0), refusal(1, "no_signature")], bounds);
      assert.deepEqual(await store.list(0), [refusal(1, "no_signature"), refusal(0)]);
      await store.add([refusal(1), refusal(1, "invalid_payload"), refusal(-5)], bounds);
      assert.deepEqual(await store.list(0), [refusal(-5), refusal(1, "invalid_payload"), refusal(1)]);
      await store.add(
        Array.from({ length: 100 }, (_, n) => refusal(n)),
        bounds,
      );
      assert.deepEqual(await store.list(0), [refusal(99), refusal(98), refusal(97)]);
    });

    test("those from before a time are not listed, and removed with the next ones", async (t) => {
      const store = await open(t);
      await store.add([refusal(0), refusal(5)], { most: 9, since: 0 });
      assert.deepEqual(await store.list(NOW + 5), [refusal(5)]);
      await store.add([refusal(6)], { most: 9, since: NOW + 5 });
      assert.deepEqual(await store.list(0), [refusal(6), refusal(5)]);
    });

    test("several servers that add at once keep the newest together", async (t) => {
      const store = await open(t);
      await Promise.all(
        Array.from({ length: 8 }, (_, server) =>
          store.add(
            Array.from({ length: 30 }, () => refusal(server)),
            { most: 100, since: 0 },
          ),
        ),
      );
      await store.add([refusal(9)], { most: 100, since: 0 });
      assert.equal((await store.list(0)).length, 100);
    });
  });
}
