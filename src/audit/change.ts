import { AppError } from "../errors.ts";
import type { AuditEntry, AuditRow, AuditStore, WriteAudit } from "./store.ts";

/** A change that is about to be made. */
type AskedChange = Omit<AuditEntry, "at" | "detail"> & { detail: object };

/**
 * Makes a change between two rows of the audit: one says what begins, the other what has come of it. A change may take
 * several transactions and stores, so that no transaction could have its row; but after a crash the first row is there.
 *
 * `outcomeOf` adds to the second row; null: nothing was changed. Without the first row nothing is changed. Throws what
 * `make` throws, and what the store of the audit throws.
 */
export async function makeAudited<Result>(
  write: WriteAudit,
  { detail, ...change }: AskedChange,
  make: () => Promise<Result>,
  outcomeOf: (result: Result) => object | null,
): Promise<Result> {
  const begun = await write({ ...change, detail: { ...detail, begins: true } });
  let result: Result;
  try {
    result = await make();
  } catch (error) {
    const failed = error instanceof AppError ? error.code : "error";
    await write({ ...change, detail: { ...detail, failed, begun } }).catch(() => {});
    throw error;
  }
  await write({ ...change, detail: { ...detail, ...(outcomeOf(result) ?? { changed: false }), begun } });
  return result;
}

/** More rows than are written between the two rows of a change. */
const NEAR_ROWS = 1000;

/**
 * The newest changes before a number, newest first: the rows without those that say what begins, unless nothing has
 * come of it yet. With `isWhole` it lists those, too.
 */
export async function listChanges(
  audit: Pick<AuditStore, "list" | "after">,
  { before, limit, isWhole = false }: { before?: number | undefined; limit: number; isWhole?: boolean | undefined },
): Promise<AuditRow[]> {
  if (isWhole) return audit.list({ before, limit });
  const ended = new Set(before === undefined ? [] : (await audit.after(before - 1, NEAR_ROWS)).map(begunBy));
  const changes: AuditRow[] = [];
  for (let from = before; ; ) {
    const rows = await audit.list({ before: from, limit });
    for (const row of rows) {
      ended.add(begunBy(row));
      if (!ended.has(row.number)) changes.push(row);
      if (changes.length === limit) return changes;
    }
    if (rows.length < limit) return changes;
    from = rows.at(-1)?.number;
  }
}

/** The number of the row that says that this change begins. */
const begunBy = ({ detail }: AuditRow) => (JSON.parse(detail) as { begun?: number }).begun;
