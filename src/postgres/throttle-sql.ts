// A place in a bucket is a failure, or an attempt in flight, which becomes a failure when it is stale. Clocks of
// servers differ by less than the age of a stale attempt. Later times come from before a clock was set back and do not
// count.

/** A place counts as a failure: start of the window, its end, time before which attempts are stale. */
const isFailure = (since: string, until: string, stale: string) =>
  `at > ${since} AND at <= ${until} AND (NOT in_flight OR at <= ${stale})`;

/**
 * Measures buckets: buckets, limits, start of the window, its end, time before which attempts are stale. Returns the
 * places that are taken, and the time of the failure that keeps the bucket full.
 */
export const MEASURE = `
SELECT "limit", (SELECT count(*) FROM authserve.login_places AS place
    WHERE place.bucket = measured.bucket AND at > $3 AND at <= $4) AS places,
  (SELECT at FROM authserve.login_places AS place WHERE place.bucket = measured.bucket AND ${isFailure("$3", "$4", "$5")}
    ORDER BY at DESC OFFSET "limit" - 1 LIMIT 1) AS "fullUntil"
FROM unnest($1::text[], $2::bigint[]) AS measured (bucket, "limit")`;

/**
 * Locks buckets until the end of the transaction, in order, and adds those that are missing: buckets. One statement,
 * because another server may remove an empty bucket between two. Locks that were then taken again, out of order,
 * deadlocked.
 */
export const LOCK_BUCKETS = `
INSERT INTO authserve.login_buckets SELECT bucket FROM unnest($1::text[]) AS bucket ORDER BY bucket
ON CONFLICT (bucket) DO UPDATE SET bucket = excluded.bucket WHERE false`;

/**
 * Removes the empty ones of the next buckets in order: the last one of the page before. Returns the last one of this
 * page. A login adds five buckets at most, so that pages of 20 keep up. A bucket that an attempt has locked is left to
 * a later page.
 */
export const REMOVE_EMPTY = `
WITH page AS MATERIALIZED (SELECT bucket FROM authserve.login_buckets WHERE bucket > $1 ORDER BY bucket LIMIT 20),
removed AS (
  DELETE FROM authserve.login_buckets WHERE bucket IN (
    SELECT known.bucket FROM authserve.login_buckets AS known JOIN page USING (bucket)
    WHERE NOT EXISTS (SELECT 1 FROM authserve.login_places AS place WHERE place.bucket = page.bucket)
    FOR UPDATE OF known SKIP LOCKED))
SELECT max(bucket) AS last FROM page`;

/** Takes a place in each bucket: buckets, attempt, now, server. */
export const RESERVE = `
INSERT INTO authserve.login_places (bucket, attempt, at, in_flight, server)
SELECT bucket, $2, $3, true, $4 FROM unnest($1::text[]) AS bucket`;

/** Turns the places of attempts into failures: attempts, times. */
export const FAIL = `
UPDATE authserve.login_places AS place SET in_flight = false, at = ended.at
FROM unnest($1::bigint[], $2::bigint[]) AS ended (attempt, at) WHERE place.attempt = ended.attempt AND in_flight`;

/** Removes the places of attempts in flight: attempts. */
export const RELEASE = `DELETE FROM authserve.login_places WHERE attempt = ANY($1::bigint[]) AND in_flight`;

/** Removes the places of a server's attempts in flight: server. */
export const RELEASE_SERVER = `DELETE FROM authserve.login_places WHERE server = $1 AND in_flight`;

/** Removes some places from before the window, far more than one login adds: start of the window. */
export const FORGET = `
DELETE FROM authserve.login_places WHERE (bucket, attempt) IN (
  SELECT bucket, attempt FROM authserve.login_places WHERE at <= $1 ORDER BY at LIMIT 100 FOR UPDATE SKIP LOCKED)`;

/** Stores when an address last logged in with an e-mail: bucket, now. */
export const REMEMBER = `
INSERT INTO authserve.known_addresses (bucket, last_login_at) VALUES ($1, $2)
ON CONFLICT (bucket) DO UPDATE SET last_login_at = excluded.last_login_at`;

/** A row if an address logged in at or after a time: bucket, time. */
export const IS_KNOWN = `SELECT 1 FROM authserve.known_addresses WHERE bucket = $1 AND last_login_at >= $2`;

/** Removes addresses whose last login was before a time: time. */
export const FORGET_KNOWN = `DELETE FROM authserve.known_addresses WHERE last_login_at < $1`;

/** The failures of a bucket: bucket, then the window as in {@link MEASURE}. */
export const FAILURES = `
SELECT count(*) AS failures FROM authserve.login_places WHERE bucket = $1 AND ${isFailure("$2", "$3", "$4")}`;

/** Excludes the buckets of e-mails and addresses, which count every failure again. */
const OF_PAIRS = `bucket NOT LIKE '%:%'`;

/** All failures, each counted once, and the number of their buckets: the window as in {@link MEASURE}. */
export const TOTALS = `
SELECT count(*) AS failures, count(DISTINCT bucket) AS buckets FROM authserve.login_places
WHERE ${isFailure("$1", "$2", "$3")} AND ${OF_PAIRS}`;

/**
 * Empties the buckets of a pair and an address, and removes the pair's failures from those that others share: pair,
 * shared, address.
 */
export const CLEAR_ADDRESS = `
WITH of_address AS (DELETE FROM authserve.login_places WHERE bucket = $3 RETURNING attempt),
of_pair AS (
  DELETE FROM authserve.login_places WHERE (bucket = $1 OR bucket = ANY($2::text[]))
    AND attempt IN (SELECT attempt FROM authserve.login_places WHERE bucket = $1))
SELECT count(*) AS cleared FROM of_address`;

/** Empties every bucket. Returns the number of places, each counted once. */
export const CLEAR_ALL = `
WITH cleared AS (DELETE FROM authserve.login_places RETURNING bucket)
SELECT count(*) FILTER (WHERE ${OF_PAIRS}) AS cleared FROM cleared`;
