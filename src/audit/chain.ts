import { hash } from "node:crypto";
import {
  AUDIT_KEPT_MS,
  type AuditEnds,
  type AuditEntry,
  type AuditLink,
  type AuditRow,
  type AuditStore,
} from "./store.ts";

/** What is before the first row. */
export const BEFORE_FIRST: AuditLink = { number: 0, hash: "0".repeat(64) };

/** The row of an entry behind another row. */
export function chained(before: AuditLink, { at, who, origin, action, detail }: AuditEntry): AuditRow {
  const row = { number: before.number + 1, at: Math.round(at), who, origin, action, detail };
  return { ...row, hash: hashOf(before.hash, row) };
}

function hashOf(before: string, { number, at, who, origin, action, detail }: Omit<AuditRow, "hash">): string {
  return hash("sha256", JSON.stringify([before, number, at, who, origin, action, detail]));
}

/** What is wrong with the chain at a row. */
interface AuditFault {
  number: number;
  found: string;
}

/** What a check of the chain has found. */
interface AuditVerdict {
  rows: number;
  /** The newest row, to compare with a later check. Its time is null without rows. */
  newest: AuditLink & { at: number | null };
  faults: AuditFault[];
}

const PAGE = 1000;
const MAX_FAULTS = 100;

/** A row that a check must find. Its time tells whether it may have been removed for its age. */
type KnownRow = AuditLink & { at?: number | null };

/**
 * Checks the whole chain at a time in Unix milliseconds. `known`: a row of an earlier check, or of the log, which must
 * still be there unless it is older than what is kept. Finds at most 100 faults.
 */
export async function verifyAudit(
  store: Pick<AuditStore, "ends" | "after">,
  now: number,
  known: KnownRow | null = null,
): Promise<AuditVerdict> {
  const ends = await store.ends();
  const verdict = await verifyFrom(store, ends, known, now);
  // Old rows may have been removed meanwhile.
  const { removed } = await store.ends();
  return removed.number === ends.removed.number ? verdict : verifyFrom(store, await store.ends(), known, now);
}

async function verifyFrom(
  store: Pick<AuditStore, "ends" | "after">,
  ends: AuditEnds,
  known: KnownRow | null,
  now: number,
): Promise<AuditVerdict> {
  const faults = faultsOfRemoved(ends, known, now);
  let rows = 0;
  let last: AuditVerdict["newest"] = ends.removed;
  for (let page = await store.after(last.number, PAGE); page.length > 0; page = await store.after(last.number, PAGE)) {
    for (const row of page) {
      rows++;
      faults.push(...faultsBetween(last, row), ...faultsOf(row, ends.newest, "the end of the chain has"));
      if (known) faults.push(...faultsOf(row, known, "it had at an earlier check"));
      last = { number: row.number, hash: row.hash, at: row.at };
    }
  }
  if (last.number < ends.newest.number) faults.push(missing(last.number + 1, ends.newest.number));
  if (known && known.number > Math.max(last.number, ends.newest.number))
    faults.push(missing(known.number, known.number));
  // Rows may have been added meanwhile, which the store then knows.
  const { newest } = await store.ends();
  if (last.number > newest.number)
    faults.push({ number: newest.number + 1, found: "is behind the end of the chain: it was inserted" });
  return { rows, newest: { number: last.number, hash: last.hash, at: last.at }, faults: faults.slice(0, MAX_FAULTS) };
}

/** What is wrong with the removed rows: only old ones are removed, and only before a newer one is added. */
function faultsOfRemoved({ newest, removed }: AuditEnds, known: KnownRow | null, now: number): AuditFault[] {
  const faults: AuditFault[] = [];
  const mayBeRemoved = (at: number | null) => at !== null && at <= now - AUDIT_KEPT_MS;
  if (removed.number > 0 && (removed.number >= newest.number || !mayBeRemoved(removed.at)))
    faults.push({ number: removed.number, found: "and those before it were removed before their time" });
  if (known === null || known.number > removed.number) return faults;
  if (known.number === removed.number && known.hash !== removed.hash)
    faults.push({ number: known.number, found: "had another hash when it was removed than at an earlier check" });
  if (!mayBeRemoved(known.at ?? removed.at))
    faults.push({ number: known.number, found: "was removed before its time" });
  return faults;
}

/** What is wrong between two rows that follow each other. */
function faultsBetween(last: AuditLink, row: AuditRow): AuditFault[] {
  if (row.number > last.number + 1) return [missing(last.number + 1, row.number - 1)];
  if (hashOf(last.hash, row) === row.hash) return [];
  return [{ number: row.number, found: "does not fit the row before it: one of them was changed, moved or inserted" }];
}

/** Whether a row has another hash than is known of it. */
function faultsOf(row: AuditRow, { number, hash: known }: AuditLink, whose: string): AuditFault[] {
  return row.number === number && row.hash !== known ? [{ number, found: `has another hash than ${whose}` }] : [];
}

function missing(from: number, to: number): AuditFault {
  return { number: from, found: from === to ? "is missing" : `and those up to ${to} are missing` };
}
