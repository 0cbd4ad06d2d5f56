import { BEFORE_FIRST, chained } from "../audit/chain.ts";
import {
  AUDIT_KEPT_MS,
  type AuditEnds,
  type AuditLink,
  type AuditRow,
  type AuditStore,
  MAX_REMOVED_ROWS,
} from "../audit/store.ts";
import { storable } from "../lib/storable.ts";
import { changed, type Query, type QueryPort, rows } from "./query.ts";

const COLUMNS = "number, at, who, origin, action, detail, hash";

/** Makes the end of the chain a row that can be locked, and locks it. Servers wait for each other here. */
const LOCK_NEWEST = `
INSERT INTO authserve.audit_ends (name, number, hash) VALUES ('newest', $1, $2)
ON CONFLICT (name) DO UPDATE SET number = audit_ends.number RETURNING number, hash`;

const ADD = `INSERT INTO authserve.audit (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7)`;

const SET_END = `
INSERT INTO authserve.audit_ends (name, number, hash) VALUES ($1, $2, $3)
ON CONFLICT (name) DO UPDATE SET number = excluded.number, hash = excluded.hash`;

const LIST = `
SELECT ${COLUMNS} FROM authserve.audit WHERE $1::bigint IS NULL OR number < $1 ORDER BY number DESC LIMIT $2`;
const AFTER = `SELECT ${COLUMNS} FROM authserve.audit WHERE number > $1 ORDER BY number LIMIT $2`;

// A row of its own: a backup that is restored may have the columns of an earlier version.
type EndName = keyof AuditEnds | "removed_at";

function* removeOld(now: number): Query<void> {
  const oldest = yield* rows<AuditRow>(AFTER, 0, MAX_REMOVED_ROWS);
  const kept = oldest.findIndex(({ at }) => at > now - AUDIT_KEPT_MS);
  const last = (kept === -1 ? oldest : oldest.slice(0, kept)).at(-1);
  if (last === undefined) return;
  yield* changed("DELETE FROM authserve.audit WHERE number <= $1", last.number);
  yield* changed(SET_END, "removed", last.number, last.hash);
  yield* changed(SET_END, "removed_at", last.at, last.hash);
}

/** Keeps the chain of changes. */
export const auditStore: QueryPort<AuditStore> = {
  *append(entry) {
    const [newest = BEFORE_FIRST] = yield* rows<AuditLink>(LOCK_NEWEST, BEFORE_FIRST.number, BEFORE_FIRST.hash);
    yield* removeOld(entry.at);
    // The hash is of what is stored.
    const { who, origin, detail } = entry;
    const row = chained(newest, { ...entry, who: storable(who), origin: storable(origin), detail: storable(detail) });
    yield* changed(ADD, row.number, row.at, row.who, row.origin, row.action, row.detail, row.hash);
    yield* changed(SET_END, "newest", row.number, row.hash);
    return row;
  },
  list: ({ before = null, limit }) => rows<AuditRow>(LIST, before, limit),
  after: (number, limit) => rows<AuditRow>(AFTER, number, limit),
  ends: () =>
    rows<AuditLink & { name: EndName }>("SELECT name, number, hash FROM authserve.audit_ends").as((found) => {
      const named = (name: EndName): AuditLink => {
        const end = found.find((one) => one.name === name);
        return end ? { number: end.number, hash: end.hash } : BEFORE_FIRST;
      };
      const removedAt = found.find(({ name }) => name === "removed_at")?.number ?? null;
      return { newest: named("newest"), removed: { ...named("removed"), at: removedAt } };
    }),
};
