import { BEFORE_FIRST, chained } from "../audit/chain.ts";
import {
  AUDIT_KEPT_MS,
  type AuditEnds,
  type AuditEntry,
  type AuditLink,
  type AuditRow,
  type AuditStore,
  MAX_REMOVED_ROWS,
} from "../audit/store.ts";
import type { SyncPort } from "./async-store.ts";
import { atomic, type Database } from "./database.ts";

const COLUMNS = "number, at, who, origin, action, detail, hash";

/** The synchronous form of the chain of changes in the SQLite file. */
export function sqliteAudit(database: Database): SyncPort<AuditStore> {
  const add = database.prepare(
    `INSERT INTO audit (${COLUMNS}) VALUES (@number, @at, @who, @origin, @action, @detail, @hash)`,
  );
  const end = database.prepare<[string], AuditLink>("SELECT number, hash FROM audit_ends WHERE name = ?");
  const setEnd = database.prepare(`
    INSERT INTO audit_ends (name, number, hash) VALUES (@name, @number, @hash)
    ON CONFLICT (name) DO UPDATE SET number = excluded.number, hash = excluded.hash`);
  const list = database.prepare<unknown[], AuditRow>(
    `SELECT ${COLUMNS} FROM audit WHERE @before IS NULL OR number < @before ORDER BY number DESC LIMIT @limit`,
  );
  const after = database.prepare<unknown[], AuditRow>(
    `SELECT ${COLUMNS} FROM audit WHERE number > ? ORDER BY number LIMIT ?`,
  );
  const oldest = database.prepare<unknown[], AuditRow>(`SELECT ${COLUMNS} FROM audit ORDER BY number LIMIT ?`);
  const remove = database.prepare("DELETE FROM audit WHERE number = ?");

  const endNamed = (name: keyof AuditEnds): AuditLink => end.get(name) ?? BEFORE_FIRST;
  // A row of its own: a backup that is restored may have the columns of an earlier version.
  const removedAt = () => end.get("removed_at")?.number ?? null;

  function removeOld(now: number): void {
    for (const { number, hash, at } of oldest.all(MAX_REMOVED_ROWS)) {
      if (at > now - AUDIT_KEPT_MS) return;
      remove.run(number);
      setEnd.run({ name: "removed", number, hash });
      setEnd.run({ name: "removed_at", number: at, hash });
    }
  }

  return {
    append: atomic(database, (entry: AuditEntry) => {
      removeOld(entry.at);
      const row = chained(endNamed("newest"), entry);
      add.run(row);
      setEnd.run({ name: "newest", number: row.number, hash: row.hash });
      return row;
    }),
    list: ({ before = null, limit }) => list.all({ before, limit }),
    after: (number, limit) => after.all(number, limit),
    ends: database.transaction(() => ({
      newest: endNamed("newest"),
      removed: { ...endNamed("removed"), at: removedAt() },
    })),
  };
}
