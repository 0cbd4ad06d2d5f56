import { createStatCounts } from "../events/stats.ts";
import {
  AHEAD_MS,
  type SourceCounts,
  type SourceRecord,
  type SourceStore,
  secretKey,
  secretKeys,
  secretsIn,
  statsOf,
} from "../webhook/intake/source-store.ts";
import type { Postgres } from "./connection.ts";
import { addStats } from "./stats.ts";
import { integers, texts } from "./values.ts";

/**
 * Adds the counts of sources: sources, received, refused, last received, time from which a stored one is ahead. In order, so that
 * two servers do not wait for each other, and each source once, because one statement cannot change a row twice.
 */
const ADD = `
INSERT INTO authserve.source_counts AS known (source, received, refused, last_received_at)
SELECT source, sum(received), sum(refused), max(at)
FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[]) AS report (source, received, refused, at)
GROUP BY source ORDER BY source
ON CONFLICT (source) DO UPDATE SET received = known.received + excluded.received, refused = known.refused + excluded.refused,
  last_received_at = CASE WHEN known.last_received_at > $5 THEN coalesce(excluded.last_received_at, known.last_received_at)
    ELSE greatest(known.last_received_at, excluded.last_received_at) END`;

/**
 * Stores when secrets were used: sources, names, marks, times, time from which a stored one is ahead. One with another value
 * replaces an older one.
 */
const USE_SECRETS = `
INSERT INTO authserve.source_secrets AS known (source, name, mark, first_used_at, last_used_at)
SELECT DISTINCT ON (source, name) source, name, mark, min(at), max(at)
FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[]) AS use (source, name, mark, at)
GROUP BY source, name, mark ORDER BY source, name, max(at) DESC
ON CONFLICT (source, name) DO UPDATE SET mark = excluded.mark,
  first_used_at = CASE WHEN known.mark = excluded.mark THEN least(known.first_used_at, excluded.first_used_at)
    ELSE excluded.first_used_at END,
  last_used_at = CASE WHEN known.last_used_at > $5 THEN excluded.last_used_at
    ELSE greatest(known.last_used_at, excluded.last_used_at) END
WHERE known.mark = excluded.mark OR known.last_used_at <= excluded.last_used_at OR known.last_used_at > $5`;

/** Adds refused deliveries: sources, reasons, numbers. In order, as those of the sources. */
const REFUSE = `
INSERT INTO authserve.source_refusals AS known (source, reason, count)
SELECT source, reason, sum(number) FROM unnest($1::text[], $2::text[], $3::bigint[]) AS report (source, reason, number)
GROUP BY source, reason ORDER BY source, reason
ON CONFLICT (source, reason) DO UPDATE SET count = known.count + excluded.count`;

/** The refused deliveries of all sources, the most frequent reason first. */
const REFUSALS = "SELECT source, reason, count FROM authserve.source_refusals ORDER BY source, count DESC, reason";

/** All sources. */
const LIST = `
SELECT source, received, refused, last_received_at AS "lastReceivedAt" FROM authserve.source_counts ORDER BY source`;

/** The secrets of all sources, the last used first. */
const SECRETS = `
SELECT source, name, mark, first_used_at AS "firstUsedAt", last_used_at AS "lastUsedAt" FROM authserve.source_secrets
ORDER BY source, last_used_at DESC, name`;

/** Keeps a secret unless its source has too many: key, value, the range of the source's keys, most. */
const KEEP_SECRET = `
INSERT INTO authserve.metadata (key, value) SELECT $1, $2
WHERE (SELECT count(*) FROM authserve.metadata WHERE key > $3 AND key < $4) < $5 ON CONFLICT DO NOTHING`;

/** Whether a secret is kept: key. */
const HAS_SECRET = "SELECT key FROM authserve.metadata WHERE key = $1";

/** The kept secrets: the range of the keys. */
const KEPT_SECRETS = "SELECT value FROM authserve.metadata WHERE key > $1 AND key < $2";

/** Forgets secrets: keys. */
const FORGET_SECRETS = "DELETE FROM authserve.metadata WHERE key = ANY($1::text[])";

type CountsRow = Omit<SourceRecord, "refusals" | "lastSecret" | "secrets">;
type RefusalRow = { source: string; reason: string; count: number };
type SecretRow = SourceRecord["secrets"][number] & { source: string };

/** Keeps the counts of sources in PostgreSQL. */
export function createPostgresSourceStore(postgres: Postgres): SourceStore {
  return {
    add: (reports, now) =>
      postgres.transaction(async (queries) => {
        const uses = reports.flatMap(({ source, secrets }) => secrets.map((secret) => ({ source, ...secret })));
        const counts = createStatCounts();
        for (const [stat, count] of reports.flatMap((report) => statsOf(report, now))) counts.add(stat, count);
        addStats(queries, counts.rows());
        const ahead = Math.round(now + AHEAD_MS);
        await Promise.all([
          queries.run(ADD, [...countsOf(reports), ahead]),
          queries.run(REFUSE, refusalsOf(reports)),
          queries.run(USE_SECRETS, [...usesOf(uses), ahead]),
        ]);
      }),
    list: () =>
      postgres.transaction(async (queries) => {
        const [counts, refusals, secrets] = await Promise.all([
          queries.rows<CountsRow>(LIST),
          queries.rows<RefusalRow>(REFUSALS),
          queries.rows<SecretRow>(SECRETS),
        ]);
        const refusedBy = Map.groupBy(refusals, ({ source }) => source);
        const secretsOf = Map.groupBy(secrets, ({ source }) => source);
        return counts.map((row): SourceRecord => {
          const own = (secretsOf.get(row.source) ?? []).map(({ source: _, ...secret }) => secret);
          const reasons = (refusedBy.get(row.source) ?? []).map(({ reason, count }) => [reason, count] as const);
          return { ...row, refusals: Object.fromEntries(reasons), lastSecret: own[0]?.name ?? null, secrets: own };
        });
      }),
    async keepSecret(secret, most) {
      const key = secretKey(secret);
      const { from, to } = secretKeys(secret.source);
      await postgres.run(KEEP_SECRET, [key, JSON.stringify(secret), from, to, most]);
      return (await postgres.rows(HAS_SECRET, [key])).length > 0;
    },
    async keptSecrets() {
      const { from, to } = secretKeys();
      const rows = await postgres.rows<{ value: string }>(KEPT_SECRETS, [from, to]);
      return secretsIn(rows.map(({ value }) => value));
    },
    forgetSecrets: async (secrets) => void (await postgres.run(FORGET_SECRETS, [texts(secrets.map(secretKey))])),
  };
}

const countsOf = (reports: readonly SourceCounts[]) => [
  texts(reports.map(({ source }) => source)),
  integers(reports.map(({ received }) => received)),
  integers(reports.map(({ refused }) => refused)),
  integers(reports.map(({ lastReceivedAt }) => lastReceivedAt)),
];

function refusalsOf(reports: readonly SourceCounts[]) {
  const rows = reports.flatMap(({ source, refusals }) =>
    Object.entries(refusals).map(([reason, count]) => ({ source, reason, count })),
  );
  return [
    texts(rows.map(({ source }) => source)),
    texts(rows.map(({ reason }) => reason)),
    integers(rows.map(({ count }) => count)),
  ];
}

const usesOf = (uses: readonly (SourceCounts["secrets"][number] & { source: string })[]) => [
  texts(uses.map(({ source }) => source)),
  texts(uses.map(({ name }) => name)),
  texts(uses.map(({ mark }) => mark)),
  integers(uses.map(({ lastUsedAt }) => lastUsedAt)),
];
