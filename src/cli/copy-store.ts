import type { ImportedStore } from "../postgres/maintenance/import.ts";
import type { ExportedStore } from "../sqlite/maintenance/export.ts";
import type { ExportedTable } from "../sqlite/maintenance/export-tables.ts";
import type { CopiedRows, CopiedTable, Position } from "../storage/tables.ts";

/** Tables that are copied at once: while the database writes rows of one, those of the other are read. */
export const LANES = 2;

/**
 * Copies the rows that the target does not have yet, and then compares all rows. Returns their number by table.
 * `onProgress` gets the rows copied and compared so far, and their total.
 */
export async function copyStore(
  source: ExportedStore,
  target: ImportedStore,
  onProgress: (done: number, total: number) => void,
): Promise<Record<string, number>> {
  const total = 2 * source.rows;
  const counts = new Map(source.tables.map(({ name }) => [name, 0]));
  let done = 0;
  function advance(rows: number): void {
    done += rows;
    onProgress(Math.min(done, total - 1), total);
  }

  /** Gives all pages of a table after a position to a step, and at last an empty one. */
  async function forEachPage(
    table: ExportedTable,
    start: Position,
    signal: AbortSignal,
    step: (after: Position, rows: CopiedRows) => Promise<void>,
  ): Promise<void> {
    for (let after = start; ; ) {
      signal.throwIfAborted();
      const rows = source.read(table, after, target.startedAt);
      await step(after, rows);
      advance(rows.count);
      if (rows.count === 0) return;
      after = rows.last;
    }
  }

  await forEachTable(source.tables, (table, signal) =>
    forEachPage(table, target.position(table), signal, async (after, rows) => {
      if (rows.count > 0) await target.add(table, after, rows);
    }),
  );
  await target.analyze(source.tables);
  await forEachTable(source.tables, (table, signal) =>
    forEachPage(table, null, signal, async (after, rows) => {
      await target.requireSame(table, after, rows);
      counts.set(table.name, (counts.get(table.name) ?? 0) + rows.count);
    }),
  );
  source.requireUnchanged();
  await target.finish(Date.now(), source.keys);
  onProgress(total, total);
  return Object.fromEntries(counts);
}

/** Runs a step for each table, {@link LANES} at a time. After an error the others stop. */
async function forEachTable<Table extends CopiedTable>(
  tables: readonly Table[],
  step: (table: Table, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const left = [...tables];
  const stop = new AbortController();
  async function lane(): Promise<void> {
    for (let table = left.shift(); table; table = left.shift()) await step(table, stop.signal);
  }
  const lanes = Array.from({ length: LANES }, () =>
    lane().catch((error: unknown) => {
      stop.abort(error);
    }),
  );
  await Promise.all(lanes);
  stop.signal.throwIfAborted();
}
