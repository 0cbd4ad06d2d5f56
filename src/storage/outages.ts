import type { OutageKind } from "../webhook/outages/outage.ts";
import type { OutageStore } from "../webhook/outages/store.ts";
import { changed, type QueryPort, row, rows } from "./query.ts";

const LAST = "SELECT at FROM authserve.heartbeats WHERE name = 'intake'";

/** The heartbeat before, whose row is locked. Of two servers, the second one gets that of the first. */
const LOCK_LAST = `
SELECT at, (SELECT at FROM authserve.heartbeats WHERE name = 'stop') AS "stoppedAt"
FROM authserve.heartbeats WHERE name = 'intake' FOR UPDATE`;

/** Sets the heartbeat, or the one with which a server stopped: name, time. */
const BEAT = `
INSERT INTO authserve.heartbeats (name, at) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET at = excluded.at`;

/** Keeps an outage, or prolongs it: kind, from, to. */
const RECORD = `
INSERT INTO authserve.outages AS known (kind, from_at, to_at) VALUES ($1, $2, $3)
ON CONFLICT (kind, from_at) DO UPDATE SET to_at = greatest(known.to_at, excluded.to_at)`;

const LIST = `
SELECT kind, from_at AS "startedAt", to_at AS "endedAt" FROM authserve.outages WHERE to_at > $1 ORDER BY from_at, kind`;

/** Keeps outages, and the heartbeat by which they are found. */
export const outageStore: QueryPort<OutageStore> = {
  *beat(at, isLast = false) {
    const last = yield* row<{ at: number; stoppedAt: number | null }>(LOCK_LAST);
    yield* changed(BEAT, "intake", Math.round(at));
    if (isLast) yield* changed(BEAT, "stop", Math.round(at));
    return last ? { at: last.at, isLast: last.at === last.stoppedAt } : null;
  },
  lastBeat: () => row<{ at: number }>(LAST).as((last) => last?.at ?? null),
  *record({ kind, from, to }, forgetBefore) {
    yield* changed("DELETE FROM authserve.outages WHERE to_at < $1", Math.round(forgetBefore));
    yield* changed(RECORD, kind, Math.round(from), Math.round(to));
  },
  list: (since) =>
    rows<{ kind: OutageKind; startedAt: number; endedAt: number }>(LIST, Math.round(since)).as((found) =>
      found.map(({ kind, startedAt, endedAt }) => ({ kind, from: startedAt, to: endedAt })),
    ),
};
