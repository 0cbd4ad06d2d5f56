import { createStatCounts, type StatRow } from "../events/stats.ts";
import {
  type CountsRow,
  type RefusalRow,
  recordsOf,
  type SecretUse,
  type SourceStore,
  secretKey,
  secretKeys,
  secretsIn,
  statsOf,
} from "../webhook/intake/source-store.ts";
import { timesAfter } from "../webhook/intake/source-times.ts";
import { changed, changedEach, type Query, type QueryPort, rows, Snapshot, summed } from "./query.ts";

/**
 * Adds to the counts of a source: source, received, refused. Until the end of the transaction no other server changes
 * what the source has.
 */
const ADD = `
INSERT INTO authserve.source_counts AS known (source, received, refused) VALUES ($1::text, $2::bigint, $3::bigint)
ON CONFLICT (source) DO UPDATE SET received = known.received + excluded.received, refused = known.refused + excluded.refused`;

/** Adds refused deliveries: source, reason, number. */
const REFUSE = `
INSERT INTO authserve.source_refusals AS known (source, reason, count) VALUES ($1::text, $2::text, $3::bigint)
ON CONFLICT (source, reason) DO UPDATE SET count = known.count + excluded.count`;

/** Sets the times of sources whose counts are there: source, twice 0, time. */
const SET_TIME = `
INSERT INTO authserve.source_counts (source, received, refused, last_received_at)
VALUES ($1::text, $2::bigint, $3::bigint, $4::bigint)
ON CONFLICT (source) DO UPDATE SET last_received_at = excluded.last_received_at`;

const SET_USE = `
INSERT INTO authserve.source_secrets (source, name, mark, first_used_at, last_used_at)
VALUES ($1::text, $2::text, $3::text, $4::bigint, $5::bigint)
ON CONFLICT (source, name) DO UPDATE SET mark = excluded.mark, first_used_at = excluded.first_used_at,
  last_used_at = excluded.last_used_at`;

const COUNTS = `
SELECT source, received, refused, last_received_at AS "lastReceivedAt" FROM authserve.source_counts ORDER BY source`;

const REFUSALS = "SELECT source, reason, count FROM authserve.source_refusals ORDER BY source, count DESC, reason";

const SECRETS = `
SELECT source, name, mark, first_used_at AS "firstUsedAt", last_used_at AS "lastUsedAt" FROM authserve.source_secrets
ORDER BY source, last_used_at DESC, name`;

/** Keeps a secret unless its source has too many: key, value, the range of the source's keys, most. */
const KEEP_SECRET = `
INSERT INTO authserve.metadata (key, value) SELECT $1, $2
WHERE (SELECT count(*) FROM authserve.metadata WHERE key > $3 AND key < $4) < $5 ON CONFLICT DO NOTHING`;

const HAS_SECRET = "SELECT key FROM authserve.metadata WHERE key = $1";
const KEPT_SECRETS = "SELECT value FROM authserve.metadata WHERE key > $1 AND key < $2";

/** Adds to the statistics, which each database keeps in its own way. */
export type AddStats = (rows: readonly StatRow[]) => Query<void>;

/** Keeps the counts of sources, and the secrets that handshakes brought. */
export const sourceStore = (addStats: AddStats): QueryPort<SourceStore> => ({
  *add(reports, now) {
    const stats = createStatCounts();
    for (const [stat, count] of reports.flatMap((report) => statsOf(report, now))) stats.add(stat, count);
    yield* addStats(stats.rows());
    yield* changedEach(ADD, summed(reports.map(({ source, received, refused }) => [[source], [received, refused]])));
    const refusals = reports.flatMap(({ source, refusals: of }) =>
      Object.entries(of).map(([reason, count]) => [[source, reason], [count]] as const),
    );
    yield* changedEach(REFUSE, summed(refusals));
    const known = { times: yield* rows<CountsRow>(COUNTS), secrets: yield* rows<SecretUse>(SECRETS) };
    const after = timesAfter(reports, known, now);
    yield* changedEach(
      SET_TIME,
      after.times.map(({ source, lastReceivedAt }) => [source, 0, 0, lastReceivedAt]),
    );
    const columnsOf = ({ source, name, mark, firstUsedAt, lastUsedAt }: SecretUse) => [
      source,
      name,
      mark,
      firstUsedAt,
      lastUsedAt,
    ];
    yield* changedEach(SET_USE, after.secrets.map(columnsOf));
  },
  list: () => new Snapshot(readRecords()),
  *keepSecret(secret, most) {
    const key = secretKey(secret);
    const { from, to } = secretKeys(secret.source);
    yield* changed(KEEP_SECRET, key, JSON.stringify(secret), from, to, most);
    return (yield* rows(HAS_SECRET, key)).length > 0;
  },
  keptSecrets() {
    const { from, to } = secretKeys();
    return rows<{ value: string }>(KEPT_SECRETS, from, to).as((found) => secretsIn(found.map(({ value }) => value)));
  },
  forgetSecrets: (secrets) =>
    changed("DELETE FROM authserve.metadata WHERE key = ANY($1::text[])", secrets.map(secretKey)),
});

function* readRecords() {
  const counts = yield* rows<CountsRow>(COUNTS);
  const refusals = yield* rows<RefusalRow>(REFUSALS);
  return recordsOf(counts, refusals, yield* rows<SecretUse>(SECRETS));
}
