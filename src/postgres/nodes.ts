import { DEAD_AFTER_MS, type Leases, type NodeRecord, type NodeStore } from "../nodes/store.ts";
import type { Postgres } from "./connection.ts";

// Servers that have ended are shown for a day. A crash and its time can then still be seen.
const FORGOTTEN_AFTER_MS = 24 * 60 * 60_000;

/** Unix milliseconds by the database's clock. */
const NOW = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/** Heartbeats come one after the other: two servers that start at once must count each other. */
const LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('authserve nodes', 0))";

/**
 * Records a heartbeat: id, host, URL, version, when it was due, the server's clock, whether it is the first. Returns the number of
 * live servers. The statement sees the rows from before it, so the server itself is counted by hand.
 */
const BEAT = `
WITH time AS MATERIALIZED (SELECT ${NOW} AS now),
beat AS (
  INSERT INTO authserve.nodes (id, host, url, version, started_at, seen_at, lag_ms, clock_offset_ms)
  SELECT $1, $2, $3, $4, now, now, greatest(0, now - $5::bigint), $6::bigint - now FROM time
  ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, lag_ms = excluded.lag_ms,
    clock_offset_ms = excluded.clock_offset_ms),
predecessors AS (SELECT id FROM authserve.nodes WHERE $7::boolean AND host = $2 AND url = $3 AND id <> $1),
forgotten AS (
  DELETE FROM authserve.nodes
  WHERE seen_at < (SELECT now FROM time) - ${FORGOTTEN_AFTER_MS} OR id IN (SELECT id FROM predecessors))
SELECT 1 + count(*) AS live FROM authserve.nodes, time
WHERE id <> $1 AND id NOT IN (SELECT id FROM predecessors) AND seen_at > now - ${DEAD_AFTER_MS}`;

/** Forgets a server: id. */
const LEAVE = "DELETE FROM authserve.nodes WHERE id = $1";

const LIST = `
SELECT id, host, url, version, started_at AS "startedAt", seen_at AS "seenAt", seen_at > ${NOW} - ${DEAD_AFTER_MS} AS "isAlive",
  lag_ms AS "lagMs", clock_offset_ms AS "clockOffsetMs"
FROM authserve.nodes ORDER BY host, url`;

/** Takes or prolongs a lease unless another holder has it: name, holder, milliseconds. */
const HOLD = `
INSERT INTO authserve.leases AS lease (name, holder, expires_at) SELECT $1, $2, ${NOW} + $3::bigint
ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at
WHERE lease.holder = excluded.holder OR lease.expires_at <= ${NOW}`;

/** Knows the servers of a database. */
export function createPostgresNodeStore(postgres: Postgres): NodeStore {
  /** Servers that have sent a heartbeat through this store. */
  const started = new Set<string>();
  return {
    async beat({ node, dueAt, clock }) {
      const { id, host, url, version } = node;
      const values = [id, host, url, version, Math.round(dueAt), Math.round(clock), !started.has(id)];
      const [row] = await postgres.transaction(async (queries) => {
        void queries.run(LOCK);
        return queries.rows<{ live: number }>(BEAT, values);
      });
      started.add(id);
      return row?.live ?? 1;
    },
    leave: async (id) => void (await postgres.run(LEAVE, [id])),
    list: () => postgres.rows<NodeRecord>(LIST),
  };
}

/** Leases in a database, by its clock. */
export function createPostgresLeases(postgres: Postgres): Leases {
  return { hold: async (name, holder, ttlMs) => (await postgres.run(HOLD, [name, holder, ttlMs])) === 1 };
}
