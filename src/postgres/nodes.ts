import { DEAD_AFTER_MS, type Leases, type NodeRecord, type NodeStore } from "../nodes/store.ts";
import { NOW_MS } from "./clock.ts";
import type { Postgres } from "./connection.ts";

// Servers that have ended are shown for a day. A crash and its time can then still be seen.
const FORGOTTEN_AFTER_MS = 24 * 60 * 60_000;

/** Records a heartbeat: id, host, URL, version, when it was due, the server's clock, whether it is the first. */
const BEAT = `
WITH time AS MATERIALIZED (SELECT ${NOW_MS} AS now),
beat AS (
  INSERT INTO authserve.nodes (id, host, url, version, started_at, seen_at, lag_ms, clock_offset_ms)
  SELECT $1, $2, $3, $4, now, now, greatest(0, now - $5::bigint), $6::bigint - now FROM time
  ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, lag_ms = excluded.lag_ms,
    clock_offset_ms = excluded.clock_offset_ms)
DELETE FROM authserve.nodes USING time
WHERE id <> $1 AND (seen_at < now - ${FORGOTTEN_AFTER_MS} OR ($7::boolean AND host = $2 AND url = $3))`;

/** The number of live servers. A statement of its own: of two servers that start at once, one at least counts both. */
const LIVE = `SELECT count(*) AS live FROM authserve.nodes WHERE seen_at > ${NOW_MS} - ${DEAD_AFTER_MS}`;

const LEAVE = "DELETE FROM authserve.nodes WHERE id = $1";

const LIST = `
SELECT id, host, url, version, started_at AS "startedAt", seen_at AS "seenAt", seen_at > ${NOW_MS} - ${DEAD_AFTER_MS} AS "isAlive",
  lag_ms AS "lagMs", clock_offset_ms AS "clockOffsetMs"
FROM authserve.nodes ORDER BY host, url`;

/** Takes or prolongs a lease unless another holder has it: name, holder, milliseconds. */
const ACQUIRE = `
INSERT INTO authserve.leases AS lease (name, holder, expires_at) SELECT $1, $2, ${NOW_MS} + $3::bigint
ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at
WHERE lease.holder = excluded.holder OR lease.expires_at <= ${NOW_MS}`;

/** Knows the servers of a database. */
export function createPostgresNodeStore(postgres: Postgres): NodeStore {
  /** Servers that have sent a heartbeat through this store. */
  const started = new Set<string>();
  return {
    async beat({ node, dueAt, clock }) {
      const { id, host, url, version } = node;
      const values = [id, host, url, version, Math.round(dueAt), Math.round(clock), !started.has(id)];
      await postgres.run(BEAT, values);
      const [row] = await postgres.rows<{ live: number }>(LIVE);
      started.add(id);
      return row?.live ?? 1;
    },
    leave: async (id) => void (await postgres.run(LEAVE, [id])),
    list: () => postgres.rows<NodeRecord>(LIST),
  };
}

/** Leases in a database, by its clock. */
export function createPostgresLeases(postgres: Postgres): Leases {
  return { acquire: async (name, holder, ttlMs) => (await postgres.run(ACQUIRE, [name, holder, ttlMs])) === 1 };
}
