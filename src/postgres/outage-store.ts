import type { OutageKind } from "../webhook/outages/outage.ts";
import type { OutageStore } from "../webhook/outages/store.ts";
import type { Postgres } from "./connection.ts";

const LAST = "SELECT at FROM authserve.heartbeats WHERE name = 'intake'";

/** The heartbeat before, whose row is locked. Of two servers, the second one gets that of the first. */
const LOCK_LAST = `${LAST} FOR UPDATE`;

/** Sets the heartbeat: time. */
const BEAT = `
INSERT INTO authserve.heartbeats (name, at) VALUES ('intake', $1) ON CONFLICT (name) DO UPDATE SET at = excluded.at`;

/** Keeps an outage, or prolongs it: kind, from, to. */
const RECORD = `
INSERT INTO authserve.outages AS known (kind, from_at, to_at) VALUES ($1, $2, $3)
ON CONFLICT (kind, from_at) DO UPDATE SET to_at = greatest(known.to_at, excluded.to_at)`;

/** Forgets the outages that ended before a time. */
const FORGET = "DELETE FROM authserve.outages WHERE to_at < $1";

const LIST = `
SELECT kind, from_at AS "startedAt", to_at AS "endedAt" FROM authserve.outages WHERE to_at > $1 ORDER BY from_at, kind`;

/** Keeps outages in PostgreSQL. */
export function createPostgresOutageStore(postgres: Postgres): OutageStore {
  return {
    beat: (at) =>
      postgres.transaction(async (queries) => {
        const [last] = await queries.rows<{ at: number }>(LOCK_LAST);
        await queries.run(BEAT, [Math.round(at)]);
        return last?.at ?? null;
      }),
    async lastBeat() {
      const [last] = await postgres.rows<{ at: number }>(LAST);
      return last?.at ?? null;
    },
    record: ({ kind, from, to }, forgetBefore) =>
      postgres.transaction(async (queries) => {
        await queries.run(FORGET, [Math.round(forgetBefore)]);
        await queries.run(RECORD, [kind, Math.round(from), Math.round(to)]);
      }),
    async list(since) {
      const rows = await postgres.rows<{ kind: OutageKind; startedAt: number; endedAt: number }>(LIST, [
        Math.round(since),
      ]);
      return rows.map(({ kind, startedAt, endedAt }) => ({ kind, from: startedAt, to: endedAt }));
    },
  };
}
