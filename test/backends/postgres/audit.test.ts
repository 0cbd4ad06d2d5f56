import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { verifyAudit } from "../../../src/audit/chain.ts";
import { onPostgres } from "../../../src/postgres/queries.ts";
import { auditStore } from "../../../src/storage/audit.ts";
import { auditEntry, auditStoreContract } from "../../contract/audit-store.ts";
import { needsPostgres } from "../../helpers/back-end.ts";
import { openPostgres, reusedPostgres } from "../../helpers/postgres.ts";

suite("on PostgreSQL", needsPostgres(), () => {
  auditStoreContract("PostgreSQL", async (t) => {
    const { postgres } = await reusedPostgres(t);
    const run = async (statement: string) =>
      void (await postgres.run(statement.replaceAll(/\b(INTO|FROM|UPDATE) audit/g, "$1 authserve.audit")));
    return { store: onPostgres(postgres, auditStore), run };
  });

  test("servers that append at the same time do not fork the chain", async (t) => {
    const { postgres, url } = await reusedPostgres(t);
    const stores = [1, 2, 3].map(() => onPostgres(openPostgres(t, url), auditStore));
    await Promise.all(stores.flatMap((store) => Array.from({ length: 30 }, (_, n) => store.append(auditEntry(n)))));
    const { rows, faults } = await verifyAudit(onPostgres(postgres, auditStore), Date.now());
    assert.deepEqual([rows, faults], [90, []]);
  });
});
