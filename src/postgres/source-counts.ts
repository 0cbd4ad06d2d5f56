import { createStatCounts } from "../events/stats.ts";
import {
  type CountsRow,
  type RefusalRow,
  recordsOf,
  type SecretUse,
  type SourceCounts,
  type SourceStore,
  secretKey,
  secretKeys,
  secretsIn,
  statsOf,
} from "../webhook/intake/source-store.ts";
import { timesAfter } from "../webhook/intake/source-times.ts";
import type { Postgres } from "./connection.ts";
import { addStats } from "./stats.ts";
import { columnsOf, integers, texts } from "./values.ts";

/**
 * Adds the counts of sources: sources, received, refused. In order, so that two servers do not wait for each other, and
 * each source once, because one statement cannot change a row twice. Until the end of the transaction no other server
 * changes what a source has.
 */
const ADD = `
INSERT INTO authserve.source_counts AS known (source, received, refused)
SELECT source, sum(received), sum(refused)
FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS report (source, received, refused)
GROUP BY source ORDER BY source
ON CONFLICT (source) DO UPDATE SET received = known.received + excluded.received, refused = known.refused + excluded.refused`;

const SET_TIMES = `
UPDATE authserve.source_counts AS known SET last_received_at = at
FROM unnest($1::text[], $2::bigint[]) AS given (source, at) WHERE known.source = given.source`;

const SET_USES = `
INSERT INTO authserve.source_secrets (source, name, mark, first_used_at, last_used_at)
SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[])
ON CONFLICT (source, name) DO UPDATE SET mark = excluded.mark, first_used_at = excluded.first_used_at,
  last_used_at = excluded.last_used_at`;

/** Adds refused deliveries: sources, reasons, numbers. In order, as those of the sources. */
const REFUSE = `
INSERT INTO authserve.source_refusals AS known (source, reason, count)
SELECT source, reason, sum(number) FROM unnest($1::text[], $2::text[], $3::bigint[]) AS report (source, reason, number)
GROUP BY source, reason ORDER BY source, reason
ON CONFLICT (source, reason) DO UPDATE SET count = known.count + excluded.count`;

const REFUSALS = "SELECT source, reason, count FROM authserve.source_refusals ORDER BY source, count DESC, reason";

const LIST = `
SELECT source, received, refused, last_received_at AS "lastReceivedAt" FROM authserve.source_counts ORDER BY source`;

const SECRETS = `
SELECT source, name, mark, first_used_at AS "firstUsedAt", last_used_at AS "lastUsedAt" FROM authserve.source_secrets
ORDER BY source, last_used_at DESC, name`;

/** Keeps a secret unless its source has too many: key, value, the range of the source's keys, most. */
const KEEP_SECRET = `
INSERT INTO authserve.metadata (key, value) SELECT $1, $2
WHERE (SELECT count(*) FROM authserve.metadata WHERE key > $3 AND key < $4) < $5 ON CONFLICT DO NOTHING`;

const HAS_SECRET = "SELECT key FROM authserve.metadata WHERE key = $1";

const KEPT_SECRETS = "SELECT value FROM authserve.metadata WHERE key > $1 AND key < $2";

const FORGET_SECRETS = "DELETE FROM authserve.metadata WHERE key = ANY($1::text[])";

/** Keeps the counts of sources in PostgreSQL. */
export function createPostgresSourceStore(postgres: Postgres): SourceStore {
  return {
    add: (reports, now) =>
      postgres.transaction(async (queries) => {
        const counts = createStatCounts();
        for (const [stat, count] of reports.flatMap((report) => statsOf(report, now))) counts.add(stat, count);
        addStats(queries, counts.rows());
        void queries.run(ADD, columnsOf(reports, { source: texts, received: integers, refused: integers }));
        void queries.run(REFUSE, refusalsOf(reports));
        const [times, secrets] = await Promise.all([queries.rows<CountsRow>(LIST), queries.rows<SecretUse>(SECRETS)]);
        const after = timesAfter(reports, { times, secrets }, now);
        void queries.run(SET_TIMES, columnsOf(after.times, { source: texts, lastReceivedAt: integers }));
        void queries.run(SET_USES, columnsOf(after.secrets, USE));
      }),
    list: () =>
      postgres.transaction(async (queries) => {
        const [counts, refusals, secrets] = await Promise.all([
          queries.rows<CountsRow>(LIST),
          queries.rows<RefusalRow>(REFUSALS),
          queries.rows<SecretUse>(SECRETS),
        ]);
        return recordsOf(counts, refusals, secrets);
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

function refusalsOf(reports: readonly SourceCounts[]) {
  const rows = reports.flatMap(({ source, refusals }) =>
    Object.entries(refusals).map(([reason, count]) => ({ source, reason, count })),
  );
  return columnsOf(rows, { source: texts, reason: texts, count: integers });
}

const USE = { source: texts, name: texts, mark: texts, firstUsedAt: integers, lastUsedAt: integers };
