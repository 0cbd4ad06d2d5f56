import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { onPostgres } from "../../../src/postgres/queries.ts";
import { alertStore } from "../../../src/storage/alerts.ts";
import { alertChanges, alertRecord, alertStoreContract } from "../../contract/alert-store.ts";
import { needsPostgres } from "../../helpers/back-end.ts";
import { failsWith } from "../../helpers/fails-with.ts";
import { reusedPostgres } from "../../helpers/postgres.ts";

suite("alerts on PostgreSQL", needsPostgres(), () => {
  alertStoreContract("PostgreSQL", async (t) => onPostgres((await reusedPostgres(t)).postgres, alertStore));

  test("of changes that fail in part, nothing is stored", async (t) => {
    const store = onPostgres((await reusedPostgres(t)).postgres, alertStore);
    const message = { alerts: [alertRecord()], at: 1 };
    const notifiers = ["pager", null as unknown as string];
    await failsWith("store_unavailable", store.save(alertChanges({ changed: [alertRecord()], message, notifiers })));
    assert.deepEqual([(await store.read()).alerts, await store.nextMessages()], [[], []]);
  });
});
