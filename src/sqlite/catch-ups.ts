import type { CatchUpItem, CatchUpState, CatchUpStore } from "../webhook/catch-up/store.ts";
import type { SyncPort } from "./async-store.ts";
import type { Database } from "./database.ts";

const SAVE_STATE = `
INSERT INTO catch_ups (source, state) VALUES (?, ?) ON CONFLICT (source) DO UPDATE SET state = excluded.state`;

const ITEMS = `
SELECT item, at, tries, changed_at AS changedAt, is_done AS isDone FROM catch_up_items WHERE source = ? ORDER BY item`;

/** Counts a try within its limits. */
const CLAIM = `
INSERT INTO catch_up_items (source, item, at, tries, changed_at, is_done) VALUES (@source, @item, @at, 1, @now, 0)
ON CONFLICT (source, item) DO UPDATE SET tries = tries + 1, changed_at = excluded.changed_at
WHERE is_done = 0 AND tries < @most AND abs(@now - changed_at) >= @restMs`;

/** Takes a try back: source, item. */
const RELEASE =
  "UPDATE catch_up_items SET tries = tries - 1, changed_at = 0 WHERE source = ? AND item = ? AND tries > 0";

/** Marks an item as stored: time, source, item. */
const FINISH = "UPDATE catch_up_items SET is_done = 1, changed_at = ? WHERE source = ? AND item = ? AND is_done = 0";

const MISSED = "SELECT count(*) FROM catch_up_items WHERE source = ? AND at >= ? AND at <= ?";

/** The synchronous form of the store of catch-ups in the SQLite file. */
export function sqliteCatchUps(database: Database): SyncPort<CatchUpStore> {
  const state = database.prepare<[string], string>("SELECT state FROM catch_ups WHERE source = ?").pluck();
  const saveState = database.prepare(SAVE_STATE);
  const items = database.prepare<[string], Omit<CatchUpItem, "isDone"> & { isDone: number }>(ITEMS);
  const claim = database.prepare(CLAIM);
  const release = database.prepare(RELEASE);
  const finish = database.prepare(FINISH);
  const missed = database.prepare<[string, number, number], number>(MISSED).pluck();
  const forget = database.prepare("DELETE FROM catch_up_items WHERE source = ? AND at < ?");
  return {
    state(source) {
      const text = state.get(source);
      return text === undefined ? null : (JSON.parse(text) as CatchUpState);
    },
    saveState: (source, next) => void saveState.run(source, JSON.stringify(next)),
    items: (source) => items.all(source).map((row) => ({ ...row, isDone: row.isDone === 1 })),
    claim: (source, { item, at }, limits) => claim.run({ source, item, at, ...limits }).changes === 1,
    release: (source, item) => void release.run(source, item),
    finish: (source, item, now) => void finish.run(now, source, item),
    missed: (source, from, to) => missed.get(source, from, to) ?? 0,
    forget: (source, before) => void forget.run(source, before),
  };
}
