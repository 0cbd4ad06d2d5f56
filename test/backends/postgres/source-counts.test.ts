import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { smallStoresOn } from "../../../src/postgres/stores.ts";
import type { SourceCounts } from "../../../src/webhook/intake/source-store.ts";
import { refusalStoreContract } from "../../contract/refusal-store.ts";
import { sourceStoreContract } from "../../contract/source-store.ts";
import { needsPostgres } from "../../helpers/back-end.ts";
import { failsWith } from "../../helpers/fails-with.ts";
import { openPostgres, reusedPostgres } from "../../helpers/postgres.ts";

const NOW = 1_800_000_000_000;

/** One delivery at a time, which a secret has verified. */
const report = (source: string, at = 1, secret = "env:A", mark = "0a1b"): SourceCounts => ({
  source,
  received: 1,
  duplicates: 0,
  conflicts: 0,
  repeats: 0,
  refused: 0,
  refusals: {},
  lastReceivedAt: at,
  secrets: [{ name: secret, mark, lastUsedAt: at }],
});

suite("the counts of sources on PostgreSQL", needsPostgres(), () => {
  sourceStoreContract("PostgreSQL", async (t) => smallStoresOn((await reusedPostgres(t)).postgres).sources);
  refusalStoreContract("PostgreSQL", async (t) => smallStoresOn((await reusedPostgres(t)).postgres).refusals);

  test("a source that is twice in a report has both counts", async (t) => {
    const store = smallStoresOn((await reusedPostgres(t)).postgres).sources;
    await store.add([report("a", 20), report("b", 15), report("a", 10)], NOW);
    const [record] = await store.list();
    assert.deepEqual([record?.received, record?.lastReceivedAt], [2, 20]);
    assert.deepEqual(record?.secrets, [{ name: "env:A", mark: "0a1b", firstUsedAt: 10, lastUsedAt: 20 }]);
  });

  test("of a secret that is in a report with two values, the later one counts", async (t) => {
    const store = smallStoresOn((await reusedPostgres(t)).postgres).sources;
    await store.add([report("a", 20, "env:A", "new0"), report("a", 10, "env:A", "old0")], NOW);
    const [record] = await store.list();
    assert.deepEqual(record?.secrets, [{ name: "env:A", mark: "new0", firstUsedAt: 20, lastUsedAt: 20 }]);
  });

  test("of a report that fails in part, nothing is stored", async (t) => {
    const store = smallStoresOn((await reusedPostgres(t)).postgres).sources;
    const broken = null as unknown as string;
    await failsWith("store_unavailable", store.add([report("a"), report("b", 1, broken)], NOW));
    assert.deepEqual(await store.list(), []);
  });

  test("two servers that report at once lose no count", async (t) => {
    const { url } = await reusedPostgres(t);
    const stores = [1, 2].map(() => smallStoresOn(openPostgres(t, url)).sources);
    const reports = ["a", "b", "c"].map((source) => report(source));
    await Promise.all(
      Array.from({ length: 40 }, (_, n) => stores[n % 2]?.add(n % 3 ? reports : reports.toReversed(), NOW)),
    );
    assert.deepEqual(
      (await stores[0]?.list())?.map(({ received }) => received),
      [40, 40, 40],
    );
  });
});
