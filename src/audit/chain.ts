import { hash } from "node:crypto";
import type { AuditEnds, AuditEntry, AuditLink, AuditRow, AuditStore } from "./store.ts";

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
  /** The newest row, to compare with a later check. */
  newest: AuditLink;
  faults: AuditFault[];
}

const PAGE = 1000;
const MAX_FAULTS = 100;

/**
 * Checks the whole chain. `known`: a row of an earlier check, or of the log, which must still be there. Finds at most
 * 100 faults.
 */
export async function verifyAudit(store: AuditStore, known: AuditLink | null = null): Promise<AuditVerdict> {
  const ends = await store.ends();
  const verdict = await verifyFrom(store, ends, known);
  // Old rows may have been removed meanwhile.
  const { removed } = await store.ends();
  return removed.number === ends.removed.number ? verdict : verifyFrom(store, await store.ends(), known);
}

async function verifyFrom(store: AuditStore, ends: AuditEnds, known: AuditLink | null): Promise<AuditVerdict> {
  const faults: AuditFault[] = [];
  let rows = 0;
  let last = ends.removed;
  for (let page = await store.after(last.number, PAGE); page.length > 0; page = await store.after(last.number, PAGE)) {
    for (const row of page) {
      rows++;
      faults.push(...faultsBetween(last, row), ...faultsOf(row, ends.newest, "the end of the chain has"));
      if (known) faults.push(...faultsOf(row, known, "it had at an earlier check"));
      last = { number: row.number, hash: row.hash };
    }
  }
  if (last.number < ends.newest.number) faults.push(missing(last.number + 1, ends.newest.number));
  if (known && known.number > Math.max(last.number, ends.newest.number))
    faults.push(missing(known.number, known.number));
  // Rows may have been added meanwhile, which the store then knows.
  const { newest } = await store.ends();
  if (last.number > newest.number)
    faults.push({ number: newest.number + 1, found: "is behind the end of the chain: it was inserted" });
  return { rows, newest: last, faults: faults.slice(0, MAX_FAULTS) };
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
