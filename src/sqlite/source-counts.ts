import {
  AHEAD_MS,
  type ReceivedSecret,
  type SourceCounts,
  type SourceRecord,
  type SourceStore,
  secretKey,
  secretKeys,
  secretsIn,
  statsOf,
} from "../webhook/intake/source-store.ts";
import type { SyncPort } from "./async-store.ts";
import { atomic, type Database } from "./database.ts";
import { statWriter } from "./stats.ts";

/** Adds the counts of a source. A time ahead of now is replaced. SQLite's `max` of a time and null is null. */
const ADD = `
INSERT INTO source_counts (source, received, refused, last_received_at)
VALUES (@source, @received, @refused, @lastReceivedAt)
ON CONFLICT (source) DO UPDATE SET received = received + excluded.received, refused = refused + excluded.refused,
  last_received_at = coalesce(
    iif(last_received_at > @ahead, excluded.last_received_at, max(last_received_at, excluded.last_received_at)),
    last_received_at, excluded.last_received_at)`;

/** Stores when a secret was used. One with another value replaces an older one. */
const USE_SECRET = `
INSERT INTO source_secrets (source, name, mark, first_used_at, last_used_at)
VALUES (@source, @name, @mark, @lastUsedAt, @lastUsedAt)
ON CONFLICT (source, name) DO UPDATE SET mark = excluded.mark,
  first_used_at = iif(mark = excluded.mark, min(first_used_at, excluded.first_used_at), excluded.first_used_at),
  last_used_at = iif(last_used_at > @ahead, excluded.last_used_at, max(last_used_at, excluded.last_used_at))
WHERE mark = excluded.mark OR last_used_at <= excluded.last_used_at OR last_used_at > @ahead`;

/** Adds refused deliveries: source, reason, number. */
const REFUSE = `
INSERT INTO source_refusals (source, reason, count) VALUES (?, ?, ?)
ON CONFLICT (source, reason) DO UPDATE SET count = count + excluded.count`;

/** The refused deliveries of a source, the most frequent reason first. */
const REFUSALS = "SELECT reason, count FROM source_refusals WHERE source = ? ORDER BY count DESC, reason";

/** All sources. */
const LIST = `
SELECT source, received, refused, last_received_at AS lastReceivedAt FROM source_counts ORDER BY source`;

/** The secrets of a source, the last used first. */
const SECRETS = `
SELECT name, mark, first_used_at AS firstUsedAt, last_used_at AS lastUsedAt FROM source_secrets WHERE source = ?
ORDER BY last_used_at DESC, name`;

/** Keeps a secret unless its source has too many: key, value, the range of the source's keys, most. */
const KEEP_SECRET = `
INSERT INTO metadata (key, value) SELECT @key, @value
WHERE (SELECT count(*) FROM metadata WHERE key > @from AND key < @to) < @most ON CONFLICT DO NOTHING`;

type CountsRow = Omit<SourceRecord, "refusals" | "lastSecret" | "secrets">;

/** The synchronous form of the source store in the SQLite file. */
export function sqliteSources(database: Database): SyncPort<SourceStore> {
  const add = database.prepare(ADD);
  const stats = statWriter(database);
  const useSecret = database.prepare(USE_SECRET);
  const refuse = database.prepare(REFUSE);
  const refusalsOf = database.prepare<[string], [reason: string, count: number]>(REFUSALS).raw();
  const counts = database.prepare<[], CountsRow>(LIST);
  const keepSecret = database.prepare(KEEP_SECRET);
  const hasKey = database.prepare<[string], number>("SELECT 1 FROM metadata WHERE key = ?").pluck();
  const keptSecrets = database
    .prepare<[string, string], string>("SELECT value FROM metadata WHERE key > ? AND key < ?")
    .pluck();
  const forgetSecret = database.prepare("DELETE FROM metadata WHERE key = ?");
  const secretsOf = database.prepare<[string], SourceRecord["secrets"][number]>(SECRETS);

  return {
    add: atomic(database, (reports: SourceCounts[], now: number) =>
      stats.count((counts) => {
        const ahead = now + AHEAD_MS;
        for (const report of reports) {
          const { source, received, refused, refusals, lastReceivedAt, secrets } = report;
          add.run({ source, received, refused, lastReceivedAt, ahead });
          for (const [reason, count] of Object.entries(refusals)) refuse.run(source, reason, count);
          for (const secret of secrets) useSecret.run({ source, ahead, ...secret });
          for (const [stat, count] of statsOf(report, now)) counts.add(stat, count);
        }
      }),
    ),
    list: database.transaction(() =>
      counts.all().map((row): SourceRecord => {
        const secrets = secretsOf.all(row.source);
        const refusals = Object.fromEntries(refusalsOf.all(row.source));
        return { ...row, refusals, lastSecret: secrets[0]?.name ?? null, secrets };
      }),
    ),
    keepSecret: atomic(database, (secret: ReceivedSecret, most: number) => {
      const key = secretKey(secret);
      keepSecret.run({ key, value: JSON.stringify(secret), ...secretKeys(secret.source), most });
      return hasKey.get(key) !== undefined;
    }),
    keptSecrets() {
      const { from, to } = secretKeys();
      return secretsIn(keptSecrets.all(from, to));
    },
    forgetSecrets: atomic(database, (secrets: Pick<ReceivedSecret, "source" | "value">[]) => {
      for (const secret of secrets) forgetSecret.run(secretKey(secret));
    }),
  };
}
