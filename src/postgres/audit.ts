import { BEFORE_FIRST, chained } from "../audit/chain.ts";
import {
  AUDIT_KEPT_MS,
  type AuditEnds,
  type AuditLink,
  type AuditRow,
  type AuditStore,
  MAX_REMOVED_ROWS,
} from "../audit/store.ts";
import type { Postgres, Queries } from "./connection.ts";
import { storable } from "./values.ts";

const COLUMNS = "number, at, who, origin, action, detail, hash";

/** Makes the end of the chain a row that can be locked, and locks it: its number and hash before the first row. */
const LOCK_NEWEST = `
INSERT INTO authserve.audit_ends (name, number, hash) VALUES ('newest', $1, $2)
ON CONFLICT (name) DO UPDATE SET number = audit_ends.number RETURNING number, hash`;

const ADD = `INSERT INTO authserve.audit (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7)`;

const ENDS = "SELECT name, number, hash FROM authserve.audit_ends";

/** Moves an end of the chain: its name, number, hash. */
const SET_END = `
INSERT INTO authserve.audit_ends (name, number, hash) VALUES ($1, $2, $3)
ON CONFLICT (name) DO UPDATE SET number = excluded.number, hash = excluded.hash`;

/** The newest rows before a number, or of all if it is null: number, limit. */
const LIST = `
SELECT ${COLUMNS} FROM authserve.audit WHERE $1::bigint IS NULL OR number < $1 ORDER BY number DESC LIMIT $2`;

/** The rows after a number, in order: number, limit. */
const AFTER = `SELECT ${COLUMNS} FROM authserve.audit WHERE number > $1 ORDER BY number LIMIT $2`;

/** Removes rows up to a number. */
const REMOVE = "DELETE FROM authserve.audit WHERE number <= $1";

/** Keeps the chain of changes in PostgreSQL. Servers wait for each other at the row of its newest end. */
export function createPostgresAuditStore(postgres: Postgres): AuditStore {
  return {
    append: (entry) =>
      postgres.transaction(async (queries) => {
        const { number, hash } = BEFORE_FIRST;
        const [newest] = await queries.rows<AuditLink>(LOCK_NEWEST, [number, hash]);
        await removeOld(queries, entry.at);
        // PostgreSQL stores no U+0000: the hash is of what is stored.
        const [who, origin, detail] = [entry.who, entry.origin, entry.detail].map(storable) as [string, string, string];
        const row = chained(newest as AuditLink, { ...entry, who, origin, detail });
        void queries.run(ADD, [row.number, row.at, row.who, row.origin, row.action, row.detail, row.hash]);
        void queries.run(SET_END, ["newest", row.number, row.hash]);
        return row;
      }),
    list: ({ before = null, limit }) => postgres.rows<AuditRow>(LIST, [before, limit]),
    after: (number, limit) => postgres.rows<AuditRow>(AFTER, [number, limit]),
    async ends() {
      const rows = await postgres.rows<AuditLink & { name: keyof AuditEnds | "removed_at" }>(ENDS);
      const named = (name: keyof AuditEnds): AuditLink => {
        const found = rows.find((row) => row.name === name);
        return found ? { number: found.number, hash: found.hash } : BEFORE_FIRST;
      };
      const removedAt = rows.find(({ name }) => name === "removed_at")?.number ?? null;
      return { newest: named("newest"), removed: { ...named("removed"), at: removedAt } };
    },
  };
}

async function removeOld(queries: Queries, now: number): Promise<void> {
  const oldest = await queries.rows<AuditRow>(AFTER, [0, MAX_REMOVED_ROWS]);
  const kept = oldest.findIndex(({ at }) => at > now - AUDIT_KEPT_MS);
  const last = (kept === -1 ? oldest : oldest.slice(0, kept)).at(-1);
  if (last === undefined) return;
  void queries.run(REMOVE, [last.number]);
  void queries.run(SET_END, ["removed", last.number, last.hash]);
  void queries.run(SET_END, ["removed_at", last.at, last.hash]);
}
