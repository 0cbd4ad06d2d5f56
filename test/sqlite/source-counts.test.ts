import assert from "node:assert/strict";
import { test } from "node:test";
import { openDatabase } from "../../src/sqlite/database.ts";
import { localStores } from "../../src/sqlite/stores.ts";
import type { SourceCounts } from "../../src/webhook/intake/source-store.ts";
import { refusalStoreContract } from "../contract/refusal-store.ts";
import { sourceStoreContract } from "../contract/source-store.ts";
import { tempDatabase } from "../helpers/database.ts";
import { failsWith } from "../helpers/fails-with.ts";

sourceStoreContract("SQLite", async (t) => localStores(tempDatabase(t).database).sources);
refusalStoreContract("SQLite", async (t) => localStores(tempDatabase(t).database).refusals);

const NOW = 1_800_000_000_000;

const report = (source: string, secret = "env:A"): SourceCounts => ({
  source,
  received: 1,
  duplicates: 0,
  conflicts: 0,
  repeats: 0,
  refused: 0,
  refusals: {},
  lastReceivedAt: 1,
  secrets: [{ name: secret, mark: "0a1b", lastUsedAt: 1 }],
});

test("counts of sources outlive the process", async (t) => {
  const { database, dataDir } = tempDatabase(t);
  await localStores(database).sources.add([report("a")], NOW);
  database.close();
  const reopened = openDatabase(dataDir);
  t.after(() => void reopened.close());
  assert.equal((await localStores(reopened).sources.list())[0]?.received, 1);
});

test("of a report that fails in part, nothing is stored", async (t) => {
  const { database } = tempDatabase(t);
  const { sources } = localStores(database);
  const broken = null as unknown as string;
  await failsWith("store_unavailable", sources.add([report("a"), report("b", broken)], NOW));
  assert.deepEqual(await sources.list(), []);
  await sources.add([report("a")], NOW);
  assert.equal((await sources.list()).length, 1);
});
