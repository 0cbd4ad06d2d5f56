import { AppError } from "../errors.ts";
import type { AuditEntry, AuditRow, WriteAudit } from "./store.ts";

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

/** Leaves out what begins and has ended in another of these rows. */
export function withoutBegun(rows: readonly AuditRow[]): AuditRow[] {
  const ended = new Set(rows.map(({ detail }) => (JSON.parse(detail) as { begun?: number }).begun));
  return rows.filter(({ number }) => !ended.has(number));
}
