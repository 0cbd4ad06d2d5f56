import type { NodeRecord } from "../../nodes/store.ts";
import type { StoreFault } from "../../storage/faults.ts";
import { connectPostgres, type Postgres, type PostgresOptions, type ServerFacts } from "../connection.ts";
import { readNewest } from "../event-reads.ts";
import { createPostgresNodeStore } from "../nodes.ts";
import { OLDEST_VERSION } from "../open.ts";
import { type FoundSchema, readSchema, SCHEMA, schemaVersion } from "../schema.ts";
import { createTrial } from "../trial.ts";

/** What `authserve doctor` and `upgrade check` report of a database. */
export interface DatabaseFacts {
  version: string;
  isSupported: boolean;
  schema: FoundSchema;
  newestSchema: number;
  /** The servers that share it. */
  nodes: NodeRecord[];
  mayCreate: boolean;
  /** Whether this user may change the tables that are there. */
  ownsTables: boolean;
  /** Settings with which a commit is not durable, e.g. `fsync is off`. */
  unsafe: string[];
  /** `synchronous` is null if this user may not see it. */
  standbys: { all: number; synchronous: number | null };
  oldestSnapshotSeconds: number;
  /** The clock of the database minus that of this machine. */
  clockDifferenceMs: number;
  /** When the newest event came. Null if there is none, the schema is another one, or events cannot be used. */
  newestEventAt: number | null;
  connections: { used: number; most: number };
  /** Null without a pooler in between. */
  pooler: "keeps statements" | "loses statements" | null;
  isEncrypted: boolean;
  /** What a trial write to each table has found. Null with another schema. */
  faults: StoreFault[] | null;
}

interface Row {
  version: string;
  number: number;
  mayCreate: boolean;
  ownsTables: boolean;
  fsync: string;
  fullPageWrites: string;
  synchronousCommit: string;
  standbys: number;
  synchronous: number;
  seesStandbys: boolean;
  synchronousNames: string;
  oldestSnapshotSeconds: number;
  now: number;
  used: number;
  most: number;
  isEncrypted: boolean;
}

/** `reset_val` is the setting of the server and the user: our connections correct theirs. */
const FACTS = `
SELECT current_setting('server_version') AS version, current_setting('server_version_num')::bigint AS number,
  has_database_privilege(current_database(), 'CREATE') AS "mayCreate",
  coalesce(has_schema_privilege(to_regnamespace('authserve'), 'CREATE'), true)
    AND (SELECT coalesce(bool_and(pg_has_role(relowner, 'USAGE')), true) FROM pg_class
      WHERE relnamespace = to_regnamespace('authserve') AND relkind = 'r') AS "ownsTables",
  current_setting('fsync') AS fsync,
  current_setting('full_page_writes') AS "fullPageWrites",
  (SELECT reset_val FROM pg_settings WHERE name = 'synchronous_commit') AS "synchronousCommit",
  (SELECT count(*) FROM pg_stat_replication) AS standbys,
  (SELECT count(*) FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')) AS synchronous,
  pg_has_role('pg_read_all_stats', 'USAGE') AS "seesStandbys",
  current_setting('synchronous_standby_names') AS "synchronousNames",
  (SELECT coalesce(max(extract(epoch FROM clock_timestamp() - xact_start)), 0)::float8 FROM pg_stat_activity
    WHERE backend_xmin IS NOT NULL AND pid <> pg_backend_pid() AND backend_type = 'client backend') AS "oldestSnapshotSeconds",
  (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now,
  (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS used,
  current_setting('max_connections')::bigint AS most,
  coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false) AS "isEncrypted"`;

/** Reads the facts over one connection. Throws `store_unavailable` if there is none. */
export async function readDatabaseFacts(options: PostgresOptions): Promise<DatabaseFacts> {
  let server: ServerFacts | undefined;
  let isNamed = true;
  const postgres = connectPostgres(
    { ...options, poolSize: 2 },
    {
      onUp: (facts) => {
        server = facts;
      },
      onDown: () => {},
      onUnnamed: () => {
        isNamed = false;
      },
    },
  );
  try {
    const askedAt = Date.now();
    const [row] = await postgres.rows<Row>(FACTS);
    const answeredAt = Date.now();
    if (row === undefined) throw new Error("PostgreSQL gave no answer");
    if (server?.isPooled) await useSeveralConnections(postgres);
    const version = await schemaVersion(postgres);
    // Before all else is read: a table that is missing looks like another schema, and only the trial does not wait for
    // a lock.
    const faults = version === SCHEMA ? await createTrial(postgres).run() : null;
    const isWhole = faults === null || faults.length === 0;
    const schema: FoundSchema = isWhole ? await readSchema(postgres) : { version, steps: [], fault: null };
    const canRead = version === SCHEMA && schema.fault === null && isReadable(faults);
    return {
      version: `PostgreSQL ${row.version}`,
      isSupported: row.number >= OLDEST_VERSION,
      schema,
      newestSchema: SCHEMA,
      nodes: version > 0 && isWhole && schema.fault === null ? await createPostgresNodeStore(postgres).list() : [],
      mayCreate: row.mayCreate,
      ownsTables: row.ownsTables,
      unsafe: unsafeSettings(row),
      standbys: { all: row.standbys, synchronous: synchronousOf(row) },
      oldestSnapshotSeconds: row.oldestSnapshotSeconds,
      clockDifferenceMs: row.now - (askedAt + answeredAt) / 2,
      newestEventAt: canRead ? await readNewest(postgres) : null,
      connections: { used: row.used, most: row.most },
      pooler: server?.isPooled ? (isNamed ? "keeps statements" : "loses statements") : null,
      isEncrypted: row.isEncrypted,
      faults,
    };
  } finally {
    await postgres.close();
  }
}

const isReadable = (faults: readonly StoreFault[] | null) => faults?.every(({ part }) => part !== "events") ?? false;

// A pooler that loses named statements shows it once a statement comes over another connection.
const TRIES = 20;

async function useSeveralConnections(postgres: Postgres): Promise<void> {
  const one = () => postgres.rows("SELECT pg_sleep(0.01)");
  for (let tried = 0; tried < TRIES; tried++) await Promise.all([one(), one()]);
}

/** How many standbys are synchronous. Without their names there is none, which each user may see. */
const synchronousOf = ({ seesStandbys, synchronousNames, synchronous }: Row) =>
  seesStandbys ? synchronous : synchronousNames === "" ? 0 : null;

function unsafeSettings({ fsync, fullPageWrites, synchronousCommit }: Row): string[] {
  return Object.entries({ fsync, full_page_writes: fullPageWrites, synchronous_commit: synchronousCommit })
    .filter(([, value]) => value === "off" || value === "local")
    .map(([name, value]) => `${name} is ${value}`);
}
