import {
  type CountsRow,
  type ReceivedSecret,
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
import type { SyncPort } from "./async-store.ts";
import { atomic, type Database } from "./database.ts";
import { statWriter } from "./stats.ts";

/** The synchronous form of the source store in the SQLite file. */
export function sqliteSources(database: Database): SyncPort<SourceStore> {
  const add = database.prepare(`
    INSERT INTO source_counts (source, received, refused) VALUES (@source, @received, @refused)
    ON CONFLICT (source) DO UPDATE SET received = received + excluded.received, refused = refused + excluded.refused`);
  const countStats = statWriter(database);
  const setTime = database.prepare(
    "UPDATE source_counts SET last_received_at = @lastReceivedAt WHERE source = @source",
  );
  const setUse = database.prepare(`
    INSERT OR REPLACE INTO source_secrets (source, name, mark, first_used_at, last_used_at)
    VALUES (@source, @name, @mark, @firstUsedAt, @lastUsedAt)`);
  const refuse = database.prepare(`
    INSERT INTO source_refusals (source, reason, count) VALUES (?, ?, ?)
    ON CONFLICT (source, reason) DO UPDATE SET count = count + excluded.count`);
  const counts = database.prepare<[], CountsRow>(
    "SELECT source, received, refused, last_received_at AS lastReceivedAt FROM source_counts ORDER BY source",
  );
  const refusals = database.prepare<[], RefusalRow>(
    "SELECT source, reason, count FROM source_refusals ORDER BY source, count DESC, reason",
  );
  const secrets = database.prepare<[], SecretUse>(`
    SELECT source, name, mark, first_used_at AS firstUsedAt, last_used_at AS lastUsedAt FROM source_secrets
    ORDER BY source, last_used_at DESC, name`);
  // Keeps a secret unless its source has too many.
  const keepSecret = database.prepare(`
    INSERT INTO metadata (key, value) SELECT @key, @value
    WHERE (SELECT count(*) FROM metadata WHERE key > @from AND key < @to) < @most ON CONFLICT DO NOTHING`);
  const hasKey = database.prepare<[string], number>("SELECT 1 FROM metadata WHERE key = ?").pluck();
  const keptSecrets = database
    .prepare<[string, string], string>("SELECT value FROM metadata WHERE key > ? AND key < ?")
    .pluck();
  const forgetSecret = database.prepare("DELETE FROM metadata WHERE key = ?");

  return {
    add: atomic(database, (reports: SourceCounts[], now: number) =>
      countStats((added) => {
        for (const report of reports) {
          const { source, received, refused } = report;
          add.run({ source, received, refused });
          for (const [reason, count] of Object.entries(report.refusals)) refuse.run(source, reason, count);
          for (const [stat, count] of statsOf(report, now)) added.add(stat, count);
        }
        const after = timesAfter(reports, { times: counts.all(), secrets: secrets.all() }, now);
        for (const time of after.times) setTime.run(time);
        for (const use of after.secrets) setUse.run(use);
      }),
    ),
    list: database.transaction(() => recordsOf(counts.all(), refusals.all(), secrets.all())),
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
