import { MAX_WAIT_MS } from "../../events/job.ts";
import { type StoredTable, tablesIn } from "../../storage/tables.ts";

/** How the rows of a table are read that SQLite has in another form. */
interface Reading {
  /** The source of the rows, if it is not the table of this name. */
  from?: string;
  /** Columns that are computed. `@now` is when the copying started. */
  computed?: Readonly<Record<string, string>>;
}

/** A table that is copied to another store, and how its rows are read. */
export type ExportedTable = StoredTable & Reading;

/** When a job is due if all leases end and no wait is too long, as at the start of a server. */
const RELEASED = `
CASE WHEN status = 'queued' AND due_at > @now AND (lease_owner IS NOT NULL OR due_at > @now + ${MAX_WAIT_MS})
  THEN (SELECT min(received_at, @now) FROM events WHERE id = event) ELSE due_at END`;

/** The events that wait for fan-out. */
const BEFORE_FAN_OUT = `SELECT id AS event FROM events WHERE id > (SELECT routed_to FROM tally)`;

/** Users with a session, and users of whom only the credential is known. */
const USERS = `
SELECT user_id, sid, expires_at, network, user_agent,
  (SELECT value FROM metadata WHERE key = 'credential:' || user_id) AS credential
FROM sessions
UNION ALL SELECT substr(key, 12), NULL, NULL, NULL, NULL, value FROM metadata
WHERE key GLOB 'credential:*' AND substr(key, 12) NOT IN (SELECT user_id FROM sessions)`;

/**
 * The failures of each attempt under one number: that of the failure in the pair's bucket. The failures of the e-mail
 * and the address, whose buckets have a colon, follow it.
 */
const FAILURES = `
SELECT bucket, coalesce((SELECT max(id) FROM login_failures AS pair
    WHERE pair.id BETWEEN failure.id - 2 AND failure.id AND pair.bucket NOT LIKE '%:%'), id) AS attempt,
  at, 0 AS in_flight, '' AS server
FROM login_failures AS failure`;

/** Events that are queued: with a queued job, or before fan-out. */
const QUEUED = `(id > routed_to OR id IN (SELECT event FROM jobs WHERE status = 'queued' AND status <> 'processed'))`;

/** The counts of all events, and of each route's jobs. */
const TALLY = `
SELECT '' AS route, queued + (SELECT count(*) FROM events WHERE id > routed_to) AS queued, processed, failed, discarded,
  (SELECT coalesce(sum(size), 0) FROM events WHERE ${QUEUED}) AS queued_bytes, processed_bytes, failed_bytes, unrouted,
  conflicts, (SELECT count(*) FROM events) AS ids
FROM tally
UNION ALL SELECT route, queued, processed, failed, discarded, 0, 0, 0, 0, 0, 0 FROM route_tally`;

const READINGS: Readonly<Record<string, Reading>> = {
  // No server runs.
  jobs: { computed: { due_at: RELEASED } },
  unrouted: { from: BEFORE_FAN_OUT },
  sessions: { from: USERS },
  login_buckets: { from: "SELECT DISTINCT bucket FROM login_failures" },
  login_places: { from: FAILURES },
  tally: { from: TALLY },
};

/** All tables that are copied. */
export const EXPORTED: readonly ExportedTable[] = tablesIn("postgres")
  .filter(({ isLeft }) => !isLeft)
  .map((table) => ({ ...table, ...READINGS[table.name] }));
