import { LONGEST_WAIT_MS } from "../../events/job.ts";
import type { ColumnKind, CopiedTable } from "../../lib/copied-table.ts";

/** A table that is copied to another store, and how its rows are read. */
export interface ExportedTable extends CopiedTable {
  /** The source of the rows, if it is not the table of this name. */
  from?: string;
  /** Columns that are computed. `@now` is when the copying started. */
  computed?: Readonly<Record<string, string>>;
  /** The column with the CRC-32 of `payload`. */
  checksum?: string;
}

/** When a job is due if all leases end and no wait is too long, as at the start of a server. */
const RELEASED = `
CASE WHEN status = 'queued' AND due_at > @now AND (lease_owner IS NOT NULL OR due_at > @now + ${LONGEST_WAIT_MS})
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
 * The failures of each attempt under one number: that of the failure in the pair's bucket. The failures of the e-mail and the
 * address, whose buckets have a colon, follow it.
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
SELECT '' AS route, queued + (SELECT count(*) FROM events WHERE id > routed_to) AS queued, processed, failed, 0 AS discarded,
  (SELECT coalesce(sum(size), 0) FROM events WHERE ${QUEUED}) AS queued_bytes, processed_bytes, failed_bytes, unrouted,
  conflicts, (SELECT count(*) FROM events) AS ids
FROM tally
UNION ALL SELECT route, queued, processed, failed, discarded, 0, 0, 0, 0, 0, 0 FROM route_tally`;

const JOB: Record<string, ColumnKind> = { event: "integer", route: "text" };
const CONTENT: Record<string, ColumnKind> = { secret: "text", address: "text", headers: "text", content_type: "text" };

const STAT: Record<string, ColumnKind> = { at: "integer", outcome: "text", source: "text", route: "text" };
const LATENCY: Record<string, ColumnKind> = { at: "integer", slot: "integer", source: "text", route: "text" };
const NUMBER: Record<string, ColumnKind> = { count: "integer" };

/** All tables that are copied. Two are copied at a time, so that the longest ones come first. */
export const EXPORTED: readonly ExportedTable[] = [
  {
    name: "events",
    key: ["id"],
    columns: {
      id: "integer",
      source: "text",
      event_id: "text",
      type: "text",
      received_at: "integer",
      size: "integer",
      bytes_sha256: "bytes",
    },
  },
  {
    name: "contents",
    key: ["event"],
    columns: { event: "integer", ...CONTENT, payload: "bytes" },
    checksum: "payload_crc32",
  },
  {
    name: "jobs",
    key: ["event", "route"],
    columns: {
      ...JOB,
      status: "text",
      attempts: "integer",
      attempts_before_replay: "integer",
      is_replay: "boolean",
      ordering_key: "text",
      in_line: "boolean",
      due_at: "integer",
      lease_owner: "text",
      claimed_at: "integer",
      ended_at: "integer",
      last_error: "text",
    },
    // No server runs.
    computed: { due_at: RELEASED },
  },
  {
    name: "attempts",
    key: ["event", "route", "attempt"],
    columns: {
      ...JOB,
      attempt: "integer",
      started_at: "integer",
      finished_at: "integer",
      outcome: "text",
      error: "text",
      response: "text",
    },
  },
  { name: "events_by_minute", key: ["minute"], columns: { minute: "integer", first_event: "integer" } },
  { name: "unrouted", key: ["event"], columns: { event: "integer" }, from: BEFORE_FAN_OUT },
  { name: "dead_letters", key: ["event", "route"], columns: { ...JOB, failed_at: "integer", reason: "text" } },
  { name: "discards", key: ["event", "route"], columns: { ...JOB, discarded_at: "integer", reason: "text" } },
  {
    name: "conflicts",
    key: ["event", "payload_sha256"],
    columns: {
      event: "integer",
      payload_sha256: "bytes",
      type: "text",
      ...CONTENT,
      first_at: "integer",
      last_at: "integer",
      deliveries: "integer",
      payload: "bytes",
    },
    checksum: "payload_crc32",
  },
  {
    name: "repeats",
    key: ["event", "number"],
    columns: {
      event: "integer",
      number: "integer",
      event_id: "text",
      type: "text",
      ...CONTENT,
      first_at: "integer",
      last_at: "integer",
      deliveries: "integer",
      replayed_as: "text",
    },
  },
  { name: "reroutes", key: ["event"], columns: { event: "integer" } },
  { name: "paused_routes", key: ["route"], columns: { route: "text", paused_at: "integer" } },
  ...["stats_minutes", "stats_hours"].map((name) => ({
    name,
    key: Object.keys(STAT),
    columns: { ...STAT, ...NUMBER },
  })),
  ...["latency_minutes", "latency_hours"].map((name) => ({
    name,
    key: Object.keys(LATENCY),
    columns: { ...LATENCY, ...NUMBER },
  })),
  {
    name: "source_counts",
    key: ["source"],
    columns: { source: "text", received: "integer", refused: "integer", last_received_at: "integer" },
  },
  {
    name: "source_refusals",
    key: ["source", "reason"],
    columns: { source: "text", reason: "text", count: "integer" },
  },
  {
    name: "source_secrets",
    key: ["source", "name"],
    columns: { source: "text", name: "text", mark: "text", first_used_at: "integer", last_used_at: "integer" },
  },
  {
    name: "held",
    key: ["id"],
    columns: {
      id: "integer",
      source: "text",
      reason: "text",
      method: "text",
      origin: "text",
      target: "text",
      headers: "text",
      media_type: "text",
      address: "text",
      received_at: "integer",
      body: "bytes",
    },
  },
  { name: "held_tally", key: ["source"], columns: { source: "text", count: "integer", bytes: "integer" } },
  { name: "alerts", key: ["id"], columns: { id: "text", record: "text" } },
  {
    name: "alert_silences",
    key: ["id"],
    columns: { id: "text", name: "text", until: "integer", silence: "text" },
  },
  {
    name: "sessions",
    key: ["user_id"],
    columns: {
      user_id: "text",
      sid: "text",
      expires_at: "integer",
      network: "text",
      user_agent: "text",
      credential: "text",
    },
    from: USERS,
  },
  {
    name: "supersessions",
    key: ["user_id", "sid"],
    columns: {
      user_id: "text",
      sid: "text",
      at: "integer",
      network: "text",
      user_agent: "text",
      expires_at: "integer",
    },
  },
  {
    name: "login_buckets",
    key: ["bucket"],
    columns: { bucket: "text" },
    from: "SELECT DISTINCT bucket FROM login_failures",
  },
  {
    name: "login_places",
    key: ["bucket", "attempt"],
    columns: { bucket: "text", attempt: "integer", at: "integer", in_flight: "boolean", server: "text" },
    from: FAILURES,
  },
  { name: "known_addresses", key: ["bucket"], columns: { bucket: "text", last_login_at: "integer" } },
  {
    name: "tally",
    key: ["route"],
    columns: {
      route: "text",
      queued: "integer",
      processed: "integer",
      failed: "integer",
      discarded: "integer",
      queued_bytes: "integer",
      processed_bytes: "integer",
      failed_bytes: "integer",
      unrouted: "integer",
      conflicts: "integer",
      ids: "integer",
    },
    from: TALLY,
  },
];
