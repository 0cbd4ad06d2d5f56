import type { DatabaseSettings } from "../../config/settings.ts";
import { isLocalDatabase } from "../../config/warnings.ts";
import { AppError, describeError, SettingsError } from "../../errors.ts";
import type { DatabaseAddress } from "../../postgres/address.ts";
import type { DatabaseFacts } from "../../postgres/maintenance/facts.ts";
import { postgresOptions } from "../../stores.ts";
import { counted } from "../output.ts";
import { type Finding, ok, trialFindings, warning, wrong, wrongSettings } from "./finding.ts";

const CHECK = "PostgreSQL";

// With an older snapshot, claims step over the rows of all jobs that ended since.
const OLD_SNAPSHOT_SECONDS = 60;
const CLOCK_DIFFERENCE_MS = 1000;

/** Checks the PostgreSQL that keeps the events. `newestAt` is the receipt of its newest event. */
export async function checkPostgres(
  settings: DatabaseSettings,
  address: DatabaseAddress,
): Promise<{ findings: Finding[]; newestAt: number | null }> {
  const { facts, findings } = await readPostgres(settings, address);
  if (facts === null) return { findings, newestAt: null };
  return { findings: findingsOf(facts, address, settings.DATABASE_POOL_SIZE), newestAt: facts.newestEventAt };
}

/** Reads the facts of the PostgreSQL at an address. They are null if it cannot be used, and the findings say why. */
export async function readPostgres(
  settings: DatabaseSettings,
  address: DatabaseAddress,
): Promise<{ facts: DatabaseFacts | null; findings: Finding[] }> {
  try {
    const { readDatabaseFacts } = await import("../../postgres/maintenance/facts.ts");
    return { facts: await readDatabaseFacts(postgresOptions(settings, address)), findings: [] };
  } catch (error) {
    if (error instanceof SettingsError) return { facts: null, findings: wrongSettings(CHECK, error) };
    const reason = describeError(error instanceof AppError ? error.cause : error);
    const remedy = "start it, or correct the host, the user, the password or the database in DATABASE_URL";
    return { facts: null, findings: [wrong(CHECK, `${placeOf(address)} cannot be used (${reason})`, remedy)] };
  }
}

function findingsOf(facts: DatabaseFacts, address: DatabaseAddress, poolSize: number): Finding[] {
  return [
    versionFinding(facts, address),
    schemaFinding(facts),
    ...(facts.faults === null ? [] : trialFindings(facts.faults)),
    ...durabilityFindings(facts),
    replicationFinding(facts),
    snapshotFinding(facts),
    databaseClockFinding(facts),
    connectionsFinding(facts, poolSize),
    ...poolerFindings(facts),
    ...tlsFindings(facts, address),
  ];
}

function placeOf({ hosts }: DatabaseAddress): string {
  return hosts.map(({ host, port }) => `${host}:${port}`).join(", ");
}

/** Whether this version supports the PostgreSQL. */
export function versionFinding({ version, isSupported }: DatabaseFacts, address: DatabaseAddress): Finding {
  const place = `${address.hosts.length > 1 ? "one of " : ""}${placeOf(address)}`;
  if (isSupported) return ok(CHECK, `${version} at ${place} accepts writes`);
  return wrong(CHECK, `${version} is too old`, "update it to 14 or newer");
}

function schemaFinding(facts: DatabaseFacts): Finding {
  const { version: schema, fault } = facts.schema;
  const { newestSchema, mayCreate } = facts;
  if (fault) return wrong("schema", `the database ${fault.found}`, fault.remedy);
  if (schema === newestSchema) return ok("schema", `${schema}, the current one`);
  if (schema === 0 && !mayCreate)
    return wrong("schema", "the user may not create the schema authserve", "run GRANT CREATE ON DATABASE … TO …");
  if (schema === 0) return ok("schema", "none yet: the first start creates it");
  const [missing] = updateFindings(facts);
  if (missing) return missing;
  return warning("schema", `${schema}, older than ${newestSchema}`, "the next start migrates it");
}

/** What would stop an update of the schema. */
export function updateFindings({ schema: { version }, newestSchema, ownsTables }: DatabaseFacts): Finding[] {
  if (version === 0 || version >= newestSchema || ownsTables) return [];
  const found = "the user does not own the schema authserve and its tables, which the update changes";
  return [wrong("schema", found, "run ALTER SCHEMA … OWNER TO …, and ALTER TABLE … OWNER TO … for each table")];
}

/** Settings with which a committed event may be lost. */
function durabilityFindings({ unsafe }: DatabaseFacts): Finding[] {
  if (unsafe.length === 0) return [ok("durability", "fsync, full_page_writes and synchronous_commit are on")];
  return unsafe.map((setting) =>
    wrong("durability", `${setting}: acknowledged events can be lost`, "set it to on in postgresql.conf"),
  );
}

function replicationFinding({ standbys }: DatabaseFacts): Finding {
  if (standbys.all === 0) return ok("standbys", "none");
  if (standbys.synchronous === null)
    return ok(
      "standbys",
      `${standbys.all}; which are synchronous is hidden from this user (pg_read_all_stats shows it)`,
    );
  if (standbys.synchronous > 0)
    return ok(
      "standbys",
      `${standbys.all}, of which ${standbys.synchronous} synchronous: they have each acknowledged event`,
    );
  const remedy = "set synchronous_standby_names, unless you accept that";
  return warning(
    "standbys",
    `${standbys.all}, none synchronous: a failover can lose the newest acknowledged events`,
    remedy,
  );
}

function snapshotFinding({ oldestSnapshotSeconds: seconds }: DatabaseFacts): Finding {
  const found = `the oldest is ${counted(Math.round(seconds), "second")} old`;
  if (seconds < OLD_SNAPSHOT_SECONDS) return ok("snapshots", found);
  return warning("snapshots", found, "end that transaction (pg_stat_activity): it slows claims and keeps removed rows");
}

function databaseClockFinding({ clockDifferenceMs: difference }: DatabaseFacts): Finding {
  const found = `the database's differs by ${Math.round(difference)} ms from this machine's`;
  if (Math.abs(difference) < CLOCK_DIFFERENCE_MS) return ok("clocks", found);
  return warning("clocks", found, "set both by NTP: servers use the database's clock, and logs this machine's");
}

function connectionsFinding({ connections }: DatabaseFacts, poolSize: number): Finding {
  const found = `${connections.used} of ${connections.most} in use, and each server uses up to ${poolSize}`;
  if (connections.most - connections.used >= poolSize) return ok("connections", found);
  return warning("connections", found, "raise max_connections, or lower DATABASE_POOL_SIZE");
}

function poolerFindings({ pooler }: DatabaseFacts): Finding[] {
  if (pooler === null) return [];
  if (pooler === "keeps statements") return [ok("pooler", "connections are pooled, and named statements work")];
  const remedy = "update pgbouncer to 1.21 or newer, with max_prepared_statements above 0";
  return [warning("pooler", "connections are pooled without named statements: each one is planned anew", remedy)];
}

function tlsFindings({ isEncrypted }: DatabaseFacts, address: DatabaseAddress): Finding[] {
  if (isEncrypted) {
    const isVerified = address.tls === "verified";
    const how = isVerified ? "encrypted, and the certificate is verified" : "encrypted, but not verified";
    return [isVerified ? ok("TLS", how) : warning("TLS", how, "use sslmode=verify-full in DATABASE_URL")];
  }
  return isLocalDatabase(address)
    ? []
    : [warning("TLS", "the connection to PostgreSQL is not encrypted", "add ?sslmode=verify-full")];
}
