import type { CatchUpItem, CatchUpState, CatchUpStore } from "../webhook/catch-up/store.ts";
import type { Postgres } from "./connection.ts";
import { storable } from "./values.ts";

const STATE = "SELECT state FROM authserve.catch_ups WHERE source = $1";
const SAVE_STATE = `
INSERT INTO authserve.catch_ups (source, state) VALUES ($1, $2) ON CONFLICT (source) DO UPDATE SET state = excluded.state`;

const ITEMS = `
SELECT item, at, tries, changed_at AS "changedAt", is_done AS "isDone"
FROM authserve.catch_up_items WHERE source = $1 ORDER BY item`;

/** Counts a try within its limits: source, item, time it was due, now, most tries, least time between two. */
const CLAIM = `
INSERT INTO authserve.catch_up_items AS known (source, item, at, tries, changed_at, is_done)
VALUES ($1, $2, $3, 1, $4, false)
ON CONFLICT (source, item) DO UPDATE SET tries = known.tries + 1, changed_at = excluded.changed_at
WHERE NOT known.is_done AND known.tries < $5::bigint AND abs(excluded.changed_at - known.changed_at) >= $6::bigint`;

/** Takes a try back: source, item. */
const RELEASE = `
UPDATE authserve.catch_up_items SET tries = tries - 1, changed_at = 0 WHERE source = $1 AND item = $2 AND tries > 0`;

/** Marks an item as stored: source, item, time. */
const FINISH = `
UPDATE authserve.catch_up_items SET is_done = true, changed_at = $3 WHERE source = $1 AND item = $2 AND NOT is_done`;

const MISSED = "SELECT count(*) AS count FROM authserve.catch_up_items WHERE source = $1 AND at >= $2 AND at <= $3";
const FORGET = "DELETE FROM authserve.catch_up_items WHERE source = $1 AND at < $2";

/** Keeps catch-ups in PostgreSQL. */
export function createPostgresCatchUpStore(postgres: Postgres): CatchUpStore {
  return {
    async state(source) {
      const [row] = await postgres.rows<{ state: string }>(STATE, [source]);
      return row === undefined ? null : (JSON.parse(row.state) as CatchUpState);
    },
    saveState: async (source, state) => void (await postgres.run(SAVE_STATE, [source, JSON.stringify(state)])),
    items: (source) => postgres.rows<CatchUpItem>(ITEMS, [source]),
    async claim(source, { item, at }, { now, most, restMs }) {
      const values = [source, storable(item), Math.round(at), Math.round(now), most, restMs];
      return (await postgres.run(CLAIM, values)) === 1;
    },
    release: async (source, item) => void (await postgres.run(RELEASE, [source, storable(item)])),
    finish: async (source, item, now) => void (await postgres.run(FINISH, [source, storable(item), Math.round(now)])),
    async missed(source, from, to) {
      const [row] = await postgres.rows<{ count: number }>(MISSED, [source, Math.round(from), Math.round(to)]);
      return row?.count ?? 0;
    },
    forget: async (source, before) => void (await postgres.run(FORGET, [source, Math.round(before)])),
  };
}
