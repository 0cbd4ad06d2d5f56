import type { CatchUpItem, CatchUpState, CatchUpStore } from "../webhook/catch-up/store.ts";
import { change, changed, type QueryPort, row, rows } from "./query.ts";

const SAVE_STATE = `
INSERT INTO authserve.catch_ups (source, state) VALUES ($1, $2)
ON CONFLICT (source) DO UPDATE SET state = excluded.state`;

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

/** Keeps what catch-ups have found and done. */
export const catchUpStore: QueryPort<CatchUpStore> = {
  state: (source) =>
    row<{ state: string }>("SELECT state FROM authserve.catch_ups WHERE source = $1", source).as((found) =>
      found === undefined ? null : (JSON.parse(found.state) as CatchUpState),
    ),
  saveState: (source, state) => changed(SAVE_STATE, source, JSON.stringify(state)),
  items: (source) =>
    rows<Omit<CatchUpItem, "isDone"> & { isDone: boolean | number }>(ITEMS, source).as((items) =>
      items.map((item) => ({ ...item, isDone: Boolean(item.isDone) })),
    ),
  claim: (source, { item, at }, { now, most, restMs }) =>
    change(CLAIM, source, item, Math.round(at), Math.round(now), most, restMs).as((count) => count === 1),
  release: (source, item) => changed(RELEASE, source, item),
  finish: (source, item, now) => changed(FINISH, source, item, Math.round(now)),
  missed: (source, from, to) =>
    row<{ count: number }>(MISSED, source, Math.round(from), Math.round(to)).as((found) => found?.count ?? 0),
  forget: (source, before) =>
    changed("DELETE FROM authserve.catch_up_items WHERE source = $1 AND at < $2", source, Math.round(before)),
};
