import { changedStep, digestsOf, faultOfNewer, type SchemaFault, STEPS_KEY } from "../storage/schema-steps.ts";

/**
 * The schema as numbered steps. All times are Unix milliseconds. A `CHECK` lists states with `OR`, because SQLite
 * builds a temporary table for an `IN` list at every insert.
 */
const STEPS: readonly string[] = [
  `
  -- The identities of events, each written once. The newest row is never removed, because its id would be reused.
  CREATE TABLE events (
    id INTEGER PRIMARY KEY, source TEXT NOT NULL, event_id TEXT NOT NULL, type TEXT NOT NULL, received_at INTEGER NOT NULL,
    size INTEGER NOT NULL,  -- bytes of the payload and the headers
    bytes_sha256 BLOB
  ) STRICT;
  -- What an event consists of. Retention removes it first: the identity alone detects late duplicates. A table of its own, so
  -- that whole pages become free.
  CREATE TABLE contents (
    event INTEGER PRIMARY KEY, secret TEXT NOT NULL, address TEXT NOT NULL, headers TEXT NOT NULL, content_type TEXT NOT NULL,
    payload_crc32 INTEGER NOT NULL,  -- detects a disk that returns other bytes
    payload BLOB NOT NULL  -- last, so that its overflow pages are rarely read
  ) STRICT;
  -- Detects duplicates by signed id, and finds an event by its id.
  CREATE UNIQUE INDEX events_identity ON events (event_id, source);
  -- Detects duplicates by their bytes when the id is unsigned.
  CREATE UNIQUE INDEX events_bytes ON events (bytes_sha256, source) WHERE bytes_sha256 IS NOT NULL;

  -- Indexes for lists. Fan-out fills them, so that a delivery does not wait for them.
  CREATE TABLE events_by_type (type TEXT, event INTEGER, PRIMARY KEY (type, event)) STRICT, WITHOUT ROWID;
  CREATE TABLE events_by_source (source TEXT, event INTEGER, PRIMARY KEY (source, event)) STRICT, WITHOUT ROWID;
  -- The first event of each minute, counted from 1970.
  CREATE TABLE events_by_minute (minute INTEGER PRIMARY KEY, first_event INTEGER NOT NULL) STRICT;

  -- The processing of an event for a route, added by fan-out.
  CREATE TABLE jobs (
    event INTEGER, route TEXT,
    status TEXT NOT NULL
      CHECK (status = 'queued' OR status = 'processed' OR status = 'failed' OR status = 'discarded'),
    attempts INTEGER NOT NULL DEFAULT 0,  -- all claims so far; also the fencing token of a claim
    attempts_before_replay INTEGER NOT NULL DEFAULT 0,  -- the budget counts from here
    is_replay INTEGER NOT NULL DEFAULT 0,
    ordering_key TEXT,
    in_line INTEGER NOT NULL DEFAULT 0,  -- 1: later jobs of its ordering key wait for it
    due_at INTEGER,  -- while queued: when it may be claimed, or its lease ends; null while it waits in line
    lease_owner TEXT, claimed_at INTEGER, ended_at INTEGER, last_error TEXT,  -- of the newest attempt
    PRIMARY KEY (event, route)
  ) STRICT, WITHOUT ROWID;
  -- Jobs that a route may claim.
  CREATE INDEX jobs_due ON jobs (route, due_at) WHERE due_at IS NOT NULL;
  -- The jobs of an ordering key in order of arrival, and the one whose turn it is: there is never a second one.
  CREATE INDEX jobs_line ON jobs (route, ordering_key, event) WHERE in_line = 1;
  CREATE UNIQUE INDEX jobs_turn ON jobs (route, ordering_key) WHERE ordering_key IS NOT NULL AND due_at IS NOT NULL;
  -- Dead letters that keep later jobs waiting.
  CREATE INDEX jobs_blocking ON jobs (route, ordering_key) WHERE in_line = 1 AND status = 'failed';
  -- Lists of queued and of failed events.
  CREATE INDEX jobs_open ON jobs (status, event) WHERE status <> 'processed';

  -- One row: the last event that has its jobs, and the number of events up to it in each status, with the bytes of their
  -- payloads and headers. Unrouted events have no jobs, because no route matched.
  CREATE TABLE tally (
    routed_to INTEGER NOT NULL, queued INTEGER NOT NULL, processed INTEGER NOT NULL, failed INTEGER NOT NULL,
    processed_bytes INTEGER NOT NULL, failed_bytes INTEGER NOT NULL, unrouted INTEGER NOT NULL, conflicts INTEGER NOT NULL,
    removed INTEGER NOT NULL  -- identities that retention has removed
  ) STRICT;
  INSERT INTO tally VALUES (0, 0, 0, 0, 0, 0, 0, 0, 0);
  -- Events that a forced replay gives to the present routes.
  CREATE TABLE reroutes (event INTEGER PRIMARY KEY) STRICT;
  -- The number of jobs of each route in each status.
  CREATE TABLE route_tally (
    route TEXT PRIMARY KEY, queued INTEGER NOT NULL, processed INTEGER NOT NULL, failed INTEGER NOT NULL,
    discarded INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  -- Routes whose jobs are not claimed.
  CREATE TABLE paused_routes (route TEXT PRIMARY KEY, paused_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;

  -- The ended attempts of a job.
  CREATE TABLE attempts (
    event INTEGER, route TEXT, attempt INTEGER, started_at INTEGER NOT NULL, finished_at INTEGER NOT NULL,
    outcome TEXT NOT NULL CHECK (outcome = 'succeeded' OR outcome = 'failed' OR outcome = 'lease_expired'),
    error TEXT, response TEXT,
    PRIMARY KEY (event, route, attempt)
  ) STRICT, WITHOUT ROWID;

  -- Jobs that have failed for good.
  CREATE TABLE dead_letters (
    event INTEGER, route TEXT, failed_at INTEGER NOT NULL, reason TEXT NOT NULL,
    unreadable INTEGER NOT NULL DEFAULT 0,  -- 1: the database is damaged where the event is
    PRIMARY KEY (event, route)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX dead_letters_unreadable ON dead_letters (event) WHERE unreadable = 1;

  -- Why a job was discarded.
  CREATE TABLE discards (
    event INTEGER, route TEXT, discarded_at INTEGER NOT NULL, reason TEXT NOT NULL, PRIMARY KEY (event, route)
  ) STRICT, WITHOUT ROWID;

  -- Other bytes that came under the signed id of an event.
  CREATE TABLE conflicts (
    event INTEGER NOT NULL, payload_sha256 BLOB NOT NULL, type TEXT NOT NULL, secret TEXT NOT NULL, address TEXT NOT NULL,
    headers TEXT NOT NULL, content_type TEXT NOT NULL, first_at INTEGER NOT NULL, last_at INTEGER NOT NULL,
    deliveries INTEGER NOT NULL, payload_crc32 INTEGER NOT NULL, payload BLOB NOT NULL,
    PRIMARY KEY (event, payload_sha256)
  ) STRICT;

  -- Counts by minute and by hour, see events/stats.ts. Minutes and hours are written at once, so that neither has to be
  -- computed later. In the order of charts. Latencies are apart, because sums do not need them.
  CREATE TABLE stats_minutes (
    at INTEGER, outcome TEXT, source TEXT, route TEXT, count INTEGER NOT NULL, PRIMARY KEY (at, outcome, source, route)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE stats_hours (
    at INTEGER, outcome TEXT, source TEXT, route TEXT, count INTEGER NOT NULL, PRIMARY KEY (at, outcome, source, route)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE latency_minutes (
    at INTEGER, slot INTEGER, source TEXT, route TEXT, count INTEGER NOT NULL, PRIMARY KEY (at, slot, source, route)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE latency_hours (
    at INTEGER, slot INTEGER, source TEXT, route TEXT, count INTEGER NOT NULL, PRIMARY KEY (at, slot, source, route)
  ) STRICT, WITHOUT ROWID;

  -- What each source has received and refused.
  CREATE TABLE source_counts (
    source TEXT PRIMARY KEY, received INTEGER NOT NULL, refused INTEGER NOT NULL, last_received_at INTEGER
  ) STRICT, WITHOUT ROWID;
  -- When each secret, by name, verified deliveries of a source.
  CREATE TABLE source_secrets (
    source TEXT, name TEXT,
    mark TEXT NOT NULL,  -- notices another value, see webhook/secret-mark.ts
    first_used_at INTEGER NOT NULL, last_used_at INTEGER NOT NULL, PRIMARY KEY (source, name)
  ) STRICT, WITHOUT ROWID;

  -- Deliveries that were refused for their signature, of sources that keep them, and how many each source has.
  CREATE TABLE held (
    id INTEGER PRIMARY KEY AUTOINCREMENT, source TEXT NOT NULL, reason TEXT NOT NULL, method TEXT NOT NULL,
    origin TEXT NOT NULL, target TEXT NOT NULL, headers TEXT NOT NULL, media_type TEXT NOT NULL, address TEXT NOT NULL,
    received_at INTEGER NOT NULL, body BLOB NOT NULL
  ) STRICT;
  CREATE INDEX held_source ON held (source, id);
  CREATE TABLE held_tally (
    source TEXT PRIMARY KEY, count INTEGER NOT NULL, bytes INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- Alerts and silences as JSON, see alerts/alert.ts.
  CREATE TABLE alerts (id TEXT PRIMARY KEY, record TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE alert_silences (
    id TEXT PRIMARY KEY, name TEXT, until INTEGER NOT NULL, silence TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  -- Messages that have not arrived yet, one for each notifier.
  CREATE TABLE alert_messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT, notifier TEXT NOT NULL, message TEXT NOT NULL, attempts INTEGER NOT NULL,
    due_at INTEGER NOT NULL
  ) STRICT;

  -- The one live session of a user.
  CREATE TABLE sessions (
    user_id TEXT PRIMARY KEY, sid TEXT NOT NULL, expires_at INTEGER NOT NULL,
    network TEXT, user_agent TEXT  -- of the login
  ) STRICT, WITHOUT ROWID;
  -- Which login superseded a session, until the superseded token has expired.
  CREATE TABLE supersessions (
    user_id TEXT, sid TEXT, at INTEGER NOT NULL, network TEXT NOT NULL, user_agent TEXT, expires_at INTEGER NOT NULL,
    PRIMARY KEY (user_id, sid)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX supersessions_expired ON supersessions (expires_at);

  -- Failed logins that still count.
  CREATE TABLE login_failures (id INTEGER PRIMARY KEY, bucket TEXT NOT NULL, at INTEGER NOT NULL) STRICT;
  CREATE INDEX login_failures_bucket ON login_failures (bucket, at);
  CREATE INDEX login_failures_at ON login_failures (at);
  -- Addresses that have logged in. Failures from other addresses cannot lock them out.
  CREATE TABLE known_addresses (bucket TEXT PRIMARY KEY, last_login_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;

  -- Key-value pairs that outlive the process.
  CREATE TABLE metadata (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  `,
  `
  -- Other ids under which the bytes of an event came. Its own contents have the bytes.
  CREATE TABLE repeats (
    event INTEGER NOT NULL,
    number INTEGER NOT NULL,  -- counts the repeats of the event, also those that are no longer kept
    event_id TEXT NOT NULL, type TEXT NOT NULL, secret TEXT NOT NULL, address TEXT NOT NULL, headers TEXT NOT NULL,
    content_type TEXT NOT NULL, first_at INTEGER NOT NULL, last_at INTEGER NOT NULL, deliveries INTEGER NOT NULL,
    replayed_as TEXT,  -- the id of the event that a replay has made of it
    PRIMARY KEY (event, number)
  ) STRICT;
  CREATE UNIQUE INDEX repeats_id ON repeats (event, event_id);
  `,
  `
  -- The refused deliveries of each source by their reason.
  CREATE TABLE source_refusals (
    source TEXT, reason TEXT, count INTEGER NOT NULL, PRIMARY KEY (source, reason)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- The tokens of programs, without their values. The scopes are separated by spaces.
  CREATE TABLE machine_tokens (
    name TEXT PRIMARY KEY, digest TEXT NOT NULL UNIQUE, scopes TEXT NOT NULL, created_at INTEGER NOT NULL,
    expires_at INTEGER, last_used_at INTEGER, last_network TEXT
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- Probes of an unavailable target: attempts that cost nothing.
  ALTER TABLE jobs ADD COLUMN probes INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE attempts ADD COLUMN is_probe INTEGER NOT NULL DEFAULT 0;
  -- Events that are not processed because a job was discarded. They count as processed, too, like unrouted ones.
  ALTER TABLE tally ADD COLUMN discarded INTEGER NOT NULL DEFAULT 0;
  UPDATE tally SET discarded = (SELECT count(*) FROM (
    SELECT event FROM jobs WHERE status <> 'processed' GROUP BY event HAVING min(status = 'discarded') = 1));
  -- Routes whose targets are unavailable, as each worker notes it from time to time.
  CREATE TABLE unavailable_routes (
    route TEXT, owner TEXT, since INTEGER NOT NULL,
    probe_at INTEGER,  -- null while a probe is running
    seen_at INTEGER NOT NULL,
    try_at INTEGER,  -- when somebody asked for a probe
    PRIMARY KEY (route, owner)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- What is sent for a job instead of the payload, from the first attempt on.
  CREATE TABLE sent_bodies (
    event INTEGER NOT NULL, route TEXT NOT NULL, content_type TEXT NOT NULL, body BLOB NOT NULL,
    PRIMARY KEY (event, route)
  ) STRICT;
  `,
  `
  -- One row: when a server took deliveries last.
  CREATE TABLE heartbeats (name TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  -- The times in which deliveries could not be taken, and why.
  CREATE TABLE outages (
    kind TEXT, from_at INTEGER, to_at INTEGER NOT NULL, PRIMARY KEY (kind, from_at)
  ) STRICT, WITHOUT ROWID;
  -- How far each source has caught up with its provider: JSON.
  CREATE TABLE catch_ups (source TEXT PRIMARY KEY, state TEXT NOT NULL) STRICT, WITHOUT ROWID;
  -- What a catch-up has found missing: the provider's name of it, when it was due, how often it was asked for.
  CREATE TABLE catch_up_items (
    source TEXT, item TEXT, at INTEGER NOT NULL, tries INTEGER NOT NULL, changed_at INTEGER NOT NULL,
    is_done INTEGER NOT NULL, PRIMARY KEY (source, item)
  ) STRICT, WITHOUT ROWID;
  -- The subscription of each source that is renewed: JSON.
  CREATE TABLE subscriptions (source TEXT PRIMARY KEY, record TEXT NOT NULL) STRICT, WITHOUT ROWID;
  `,
  `
  -- The second factors of the user. "data" is what verifies one, as JSON.
  CREATE TABLE login_factors (
    id TEXT PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL, data TEXT NOT NULL, counter INTEGER NOT NULL,
    created_at INTEGER NOT NULL, last_used_at INTEGER
  ) STRICT, WITHOUT ROWID;
  -- The recovery codes that are left, as digests.
  CREATE TABLE recovery_codes (digest TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
  -- Codes and challenges that were used, until they are worth nothing anyway.
  CREATE TABLE spent_codes (id TEXT PRIMARY KEY, expires_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE logins (
    sid TEXT PRIMARY KEY, at INTEGER NOT NULL, network TEXT NOT NULL, user_agent TEXT, method TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  -- The networks of logins. One was new at "new_at", when "sid" was opened.
  CREATE TABLE login_networks (
    network TEXT PRIMARY KEY, last_at INTEGER NOT NULL, new_at INTEGER, sid TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- When a pause ends by itself. Null: never.
  ALTER TABLE paused_routes ADD COLUMN until_at INTEGER;
  `,
  `
  -- Events whose contents were erased.
  CREATE TABLE erasures (
    event INTEGER PRIMARY KEY, erased_at INTEGER NOT NULL, reason TEXT NOT NULL, payload_sha256 BLOB NOT NULL
  ) STRICT;
  `,
  `
  -- How the answers of each shadow compare with those of its route.
  CREATE TABLE shadow_counts (
    route TEXT, outcome TEXT, count INTEGER NOT NULL, PRIMARY KEY (route, outcome)
  ) STRICT, WITHOUT ROWID;
  -- Where the answers to an event differ first: JSON.
  CREATE TABLE shadow_differences (
    event INTEGER, route TEXT, at INTEGER NOT NULL, difference TEXT NOT NULL, PRIMARY KEY (event, route)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- The HTTP status of what the target answered.
  ALTER TABLE attempts ADD COLUMN response_status INTEGER;
  `,
  `
  -- Events that no route took when they came. Those that a replay gave to a route later stay.
  CREATE TABLE untaken (event INTEGER PRIMARY KEY) STRICT;
  INSERT INTO untaken SELECT event FROM contents
  WHERE event <= (SELECT routed_to FROM tally) AND NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.event = contents.event);
  `,
  `
  -- Changes by people and programs. "hash" is of a row and of the hash before it. "detail" is JSON.
  CREATE TABLE audit (
    number INTEGER PRIMARY KEY, at INTEGER NOT NULL, who TEXT NOT NULL, origin TEXT NOT NULL, action TEXT NOT NULL,
    detail TEXT NOT NULL, hash TEXT NOT NULL
  ) STRICT;
  -- The ends of the chain: "newest", and "removed", the newest of the rows that were removed for their age.
  CREATE TABLE audit_ends (name TEXT PRIMARY KEY, number INTEGER NOT NULL, hash TEXT NOT NULL) STRICT, WITHOUT ROWID;
  `,
  `
  -- The newest refused deliveries.
  CREATE TABLE recent_refusals (
    id INTEGER PRIMARY KEY, received_at INTEGER NOT NULL, source TEXT NOT NULL, reason TEXT NOT NULL, address TEXT NOT NULL
  ) STRICT;
  `,
  `
  -- How often a job was replayed.
  ALTER TABLE jobs ADD COLUMN replays INTEGER NOT NULL DEFAULT 0;
  UPDATE jobs SET replays = 1 WHERE is_replay = 1;
  -- The replay that an attempt belongs to, 0 before the first, and its number in the budget. Null if it is older.
  ALTER TABLE attempts ADD COLUMN replay INTEGER;
  ALTER TABLE attempts ADD COLUMN attempt_of_budget INTEGER;
  `,
  `
  -- The last event of each minute that can be listed.
  ALTER TABLE events_by_minute ADD COLUMN last_event INTEGER NOT NULL DEFAULT 0;
  INSERT INTO events_by_minute (minute, first_event, last_event) SELECT received_at / 60000, id, id FROM events
  WHERE id >= (SELECT min(event) FROM contents) AND id <= (SELECT routed_to FROM tally) ORDER BY id
  ON CONFLICT DO UPDATE SET last_event = excluded.last_event;
  `,
  `
  -- What apps were granted: authorization codes, and tokens, as digests. What changes a family of tokens locks its code,
  -- which stays as long as they do.
  CREATE TABLE client_codes (
    digest TEXT PRIMARY KEY, client TEXT NOT NULL, user_id TEXT NOT NULL, sid TEXT NOT NULL, scope TEXT NOT NULL,
    authenticated_at INTEGER NOT NULL, method TEXT, nonce TEXT, redirect_uri TEXT NOT NULL, challenge TEXT,
    expires_at INTEGER NOT NULL, kept_until INTEGER NOT NULL,
    is_used INTEGER NOT NULL DEFAULT 0, is_revoked INTEGER NOT NULL DEFAULT 0
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX client_codes_kept ON client_codes (kept_until);
  CREATE INDEX client_codes_sid ON client_codes (sid);
  -- A refresh token that was used stays until it expires, so that a second use is known.
  CREATE TABLE client_tokens (
    digest TEXT PRIMARY KEY, kind TEXT NOT NULL, family TEXT NOT NULL, client TEXT NOT NULL, user_id TEXT NOT NULL,
    sid TEXT NOT NULL, scope TEXT NOT NULL, authenticated_at INTEGER NOT NULL, method TEXT, nonce TEXT,
    issued_at INTEGER NOT NULL, expires_at INTEGER NOT NULL, is_used INTEGER NOT NULL DEFAULT 0
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX client_tokens_expired ON client_tokens (expires_at);
  CREATE INDEX client_tokens_family ON client_tokens (family);
  CREATE INDEX client_tokens_sid ON client_tokens (sid);
  -- Which app takes part in which session. At "ended_at" it was told of the end, or was given up.
  CREATE TABLE client_sessions (
    client TEXT, sid TEXT, user_id TEXT NOT NULL, since INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0, due_at INTEGER NOT NULL DEFAULT 0,
    error TEXT, ended_at INTEGER, is_failed INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (client, sid)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX client_sessions_ended ON client_sessions (ended_at);
  -- The scopes that a person has consented to.
  CREATE TABLE client_consents (
    user_id TEXT, client TEXT, scope TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (user_id, client)
  ) STRICT, WITHOUT ROWID;
  -- The keys that sign ID tokens: JWK text, sealed if the server has encryption keys.
  CREATE TABLE signing_keys (
    id TEXT PRIMARY KEY, algorithm TEXT NOT NULL, private_key TEXT NOT NULL, created_at INTEGER NOT NULL,
    signs_from INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- The device of a user's session, if a browser has registered its key. That of an earlier session does not count.
  CREATE TABLE session_devices (
    user_id TEXT PRIMARY KEY, sid TEXT NOT NULL, public_key TEXT NOT NULL,
    challenged_at INTEGER NOT NULL DEFAULT 0, bound_from INTEGER
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- The people of the configuration file. "mark" differs if one was removed and added again. An invitation is the digest
  -- of a link, and of the cookie of the browser that has opened it.
  CREATE TABLE people (
    id TEXT PRIMARY KEY, email TEXT NOT NULL, mark TEXT NOT NULL, password_hash TEXT,
    invitation TEXT, invitation_ends_at INTEGER, invitation_browser TEXT
  ) STRICT, WITHOUT ROWID;
  -- What login_factors, recovery_codes, logins and login_networks have of the person of the environment, of the others.
  CREATE TABLE person_factors (
    account TEXT NOT NULL, id TEXT PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL, data TEXT NOT NULL,
    counter INTEGER NOT NULL, created_at INTEGER NOT NULL, last_used_at INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE person_codes (account TEXT NOT NULL, digest TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
  CREATE TABLE person_logins (
    account TEXT NOT NULL, sid TEXT PRIMARY KEY, at INTEGER NOT NULL, network TEXT NOT NULL, user_agent TEXT,
    method TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE person_networks (
    account TEXT NOT NULL, network TEXT NOT NULL, last_at INTEGER NOT NULL, new_at INTEGER, sid TEXT NOT NULL,
    PRIMARY KEY (account, network)
  ) STRICT, WITHOUT ROWID;
  `,
];

/** The oldest supported schema. Schemas 1 to 14 are from before the first release. */
const FIRST_SCHEMA = 15;

/** The schema of this version, compared with `PRAGMA user_version`. Never edit a released step: add a new one. */
export const SCHEMA = FIRST_SCHEMA + STEPS.length - 1;

/** A digest of each step. A database keeps those that made it, see storage/schema-steps.ts. */
export const STEP_DIGESTS: readonly string[] = digestsOf(STEPS);

/** The steps that bring a file with this schema up to date. An empty file has schema 0. */
export function stepsFrom(schema: number): readonly string[] {
  return STEPS.slice(schema === 0 ? 0 : schema - FIRST_SCHEMA + 1);
}

/** The steps that a database keeps, as JSON. */
export const RECORDED_STEPS = `SELECT value FROM metadata WHERE key = '${STEPS_KEY}'`;

/** Records the steps: JSON. */
export const RECORD_STEPS = `
INSERT INTO metadata (key, value) VALUES ('${STEPS_KEY}', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value`;

/**
 * The fault of a schema that this version cannot read, with its remedy. Null when it can. `recorded`: the digests of
 * its steps.
 */
export function faultOfSchema(schema: number, recorded: readonly string[] = []): SchemaFault | null {
  if (schema > SCHEMA) return faultOfNewer(schema, SCHEMA, recorded);
  if (schema !== 0 && schema < FIRST_SCHEMA) {
    const found = `has schema ${schema}, of a version before the first release, which is not supported`;
    return { found, remedy: "start with an empty DATA_DIR" };
  }
  const changed = changedStep(recorded, STEP_DIGESTS);
  if (changed === null) return null;
  const found = `has another schema ${FIRST_SCHEMA + changed} than this version`;
  return { found, remedy: "run the authserve that made it, or start with an empty DATA_DIR" };
}
