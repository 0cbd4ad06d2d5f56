/**
 * The schema as numbered steps; `PRAGMA user_version` holds the number of the last one applied.
 * A released step is never edited: a change is a new step.
 */
export const MIGRATIONS: readonly string[] = [
  // 1: everything of the first version. All times are Unix milliseconds.
  `
  CREATE TABLE events (
    id INTEGER PRIMARY KEY,
    source TEXT NOT NULL,
    event_id TEXT NOT NULL,
    type TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('queued', 'processed', 'failed')),
    -- Attempts ever claimed; also the fencing token of a claim.
    attempts INTEGER NOT NULL DEFAULT 0,
    -- Attempts before the last replay: the budget counts from here.
    attempts_before_replay INTEGER NOT NULL DEFAULT 0,
    -- Queued and free: when it may be claimed. Queued and leased: when the lease ends.
    due_at INTEGER NOT NULL,
    lease_owner TEXT,
    claimed_at INTEGER,
    received_at INTEGER NOT NULL,
    processed_at INTEGER,
    last_error TEXT,
    address TEXT NOT NULL,
    headers TEXT NOT NULL,
    content_type TEXT NOT NULL,
    -- Last, so that a list never reads its overflow pages.
    payload BLOB NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX events_identity ON events (event_id, source);
  CREATE INDEX events_due ON events (due_at) WHERE status = 'queued';
  CREATE INDEX events_received ON events (received_at);
  CREATE INDEX events_by_type ON events (type, received_at);
  CREATE INDEX events_by_source ON events (source, received_at);
  CREATE INDEX events_unprocessed ON events (status, received_at) WHERE status <> 'processed';

  CREATE TABLE attempts (
    event INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    finished_at INTEGER NOT NULL,
    outcome TEXT NOT NULL CHECK (outcome IN ('succeeded', 'failed', 'lease_expired')),
    error TEXT,
    PRIMARY KEY (event, attempt)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE dead_letters (
    event INTEGER PRIMARY KEY,
    failed_at INTEGER NOT NULL,
    reason TEXT NOT NULL
  ) STRICT;
  CREATE INDEX dead_letters_failed ON dead_letters (failed_at);

  -- Other bytes that arrived under the id of a stored event.
  CREATE TABLE conflicts (
    event INTEGER NOT NULL,
    payload_sha256 BLOB NOT NULL,
    payload BLOB NOT NULL,
    address TEXT NOT NULL,
    first_at INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    deliveries INTEGER NOT NULL,
    PRIMARY KEY (event, payload_sha256)
  ) STRICT;

  CREATE TABLE sessions (
    user_id TEXT PRIMARY KEY,
    sid TEXT NOT NULL,
    expires_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE login_failures (
    id INTEGER PRIMARY KEY,
    bucket TEXT NOT NULL,
    at INTEGER NOT NULL,
    -- 0 while the attempt is under way.
    settled INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX login_failures_bucket ON login_failures (bucket, at);
  CREATE INDEX login_failures_at ON login_failures (at);

  CREATE TABLE known_addresses (
    bucket TEXT PRIMARY KEY,
    last_login_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE metadata (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  // 2: which login superseded a session, until the superseded token has expired.
  `
  CREATE TABLE supersessions (
    user_id TEXT NOT NULL,
    sid TEXT NOT NULL,
    at INTEGER NOT NULL,
    network TEXT NOT NULL,
    user_agent TEXT,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (user_id, sid)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX supersessions_expired ON supersessions (expires_at);
  `,
  // 3: drops what nothing reads. A server of the version before may still run: its statements must go on.
  `DROP INDEX dead_letters_failed`,
  // 4: says the same in words that SQLite is quicker with: it would make a table of the three at every insert. What is
  // stored stays as it is (SQLite, ALTER TABLE, "Making Other Kinds Of Table Schema Changes").
  `
  PRAGMA writable_schema = ON;
  UPDATE sqlite_schema
  SET sql = replace(sql, 'status IN (''queued'', ''processed'', ''failed'')',
    'status = ''queued'' OR status = ''processed'' OR status = ''failed''')
  WHERE name = 'events';
  UPDATE sqlite_schema
  SET sql = replace(sql, 'outcome IN (''succeeded'', ''failed'', ''lease_expired'')',
    'outcome = ''succeeded'' OR outcome = ''failed'' OR outcome = ''lease_expired''')
  WHERE name = 'attempts';
  PRAGMA writable_schema = RESET;
  `,
  // 5: an event has -1 attempts until it is claimed, and is until then in no index that neither a delivery nor a claim
  // reads. None that is stored has as few, so the indexes hold already what they are to hold.
  `
  PRAGMA writable_schema = ON;
  UPDATE sqlite_schema SET sql = sql || ' WHERE attempts >= 0'
  WHERE name IN ('events_received', 'events_by_type', 'events_by_source');
  UPDATE sqlite_schema SET sql = sql || ' AND attempts >= 0' WHERE name = 'events_unprocessed';
  PRAGMA writable_schema = RESET;
  `,
  // 6: what makes a duplicate where the id is unsigned, which secret verified, and what else came with a conflict's bytes.
  `
  ALTER TABLE events ADD COLUMN secret INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE events ADD COLUMN bytes_sha256 BLOB;
  CREATE UNIQUE INDEX events_bytes ON events (bytes_sha256, source) WHERE bytes_sha256 IS NOT NULL;
  ALTER TABLE conflicts ADD COLUMN type TEXT NOT NULL DEFAULT 'unknown';
  ALTER TABLE conflicts ADD COLUMN content_type TEXT NOT NULL DEFAULT 'application/json';
  ALTER TABLE conflicts ADD COLUMN headers TEXT NOT NULL DEFAULT '{}';
  `,
];
