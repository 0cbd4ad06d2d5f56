import assert from "node:assert/strict";
import { test } from "node:test";
import { openDatabase } from "../../src/sqlite/database.ts";
import { localStores } from "../../src/sqlite/stores.ts";
import { alertChanges, alertRecord, alertStoreContract } from "../contract/alert-store.ts";
import { tempDatabase } from "../helpers/database.ts";
import { failsWith } from "../helpers/fails-with.ts";

alertStoreContract("SQLite", async (t) => localStores(tempDatabase(t).database).alerts);

const message = { alerts: [alertRecord()], at: 1 };

test("alerts and messages outlive the process", async (t) => {
  const { database, dataDir } = tempDatabase(t);
  await localStores(database).alerts.save(alertChanges({ changed: [alertRecord()], message, notifiers: ["pager"] }));
  database.close();
  const reopened = openDatabase(dataDir);
  t.after(() => void reopened.close());
  const { alerts } = localStores(reopened);
  assert.deepEqual((await alerts.read()).alerts, [alertRecord()]);
  assert.equal((await alerts.nextMessages()).length, 1);
});

test("of changes that fail in part, nothing is stored", async (t) => {
  const { alerts } = localStores(tempDatabase(t).database);
  const notifiers = ["pager", null as unknown as string];
  await failsWith("store_unavailable", alerts.save(alertChanges({ changed: [alertRecord()], message, notifiers })));
  assert.deepEqual([(await alerts.read()).alerts, await alerts.nextMessages()], [[], []]);
});
