import packageJson from "../../package.json" with { type: "json" };
import { misspelledNames, readEnvironment } from "../config/env-file.ts";
import { readConfigFile } from "../config/file/config-file.ts";
import { DATABASE_SETTING_NAMES, type DatabaseSettings, type Environment, readSettings } from "../config/settings.ts";
import { type Fault, SettingsError } from "../errors.ts";
import { faultBeside, type NodeRecord } from "../nodes/store.ts";
import type { DatabaseAddress } from "../postgres/address.ts";
import { isLockHeld } from "../sqlite/data-dir.ts";
import { faultOfSchema, SCHEMA } from "../sqlite/schema.ts";
import { newestVersion } from "../storage/schema-steps.ts";
import { readPostgres, updateFindings, versionFinding } from "./checks/database.ts";
import { checkDatabase } from "./checks/disk.ts";
import { type Finding, ok, printFindings, warning, wrong, wrongSettings } from "./checks/finding.ts";
import { checkSettings } from "./checks/settings.ts";
import { counted, printJson } from "./output.ts";

/** The schema of a store, as this version finds it. */
interface StoreSchema {
  /** 0 if there is none yet. */
  schema: number;
  newest: number;
  /** The steps that the database keeps, see storage/schema-steps.ts. */
  recorded: readonly string[];
  /** Why this version cannot use it. */
  fault: Fault | null;
  /** How to make a backup. */
  backup: string;
}

/** A store that was looked at. The schema is null if it cannot be read, and the findings say why. */
interface CheckedStore {
  schema: StoreSchema | null;
  findings: Finding[];
}

/**
 * Prints what the next start of this version would do: the steps of the schema, whether other servers may run beside
 * it, and what it would refuse. It changes nothing. The exit code is 1 if the start would fail.
 */
export async function runUpgradeCheck({ json }: { json?: boolean }): Promise<void> {
  const environment = readEnvironment();
  const settings = readSettings(environment, ["DATA_DIR", ...DATABASE_SETTING_NAMES]);
  const { DATA_DIR: dataDir, DATABASE_URL: address } = settings;
  const store = address === undefined ? checkSqlite(dataDir) : await checkPostgresStore(settings, address);
  const steps = store.schema === null ? null : stepsOf(store.schema);
  const findings = [
    ...(await checkSettings(environment)),
    ...misspelledNames(environment).map(({ found, remedy }) => warning("settings", found, remedy)),
    ...checkConfigFile(environment),
    ...(store.schema === null ? [] : [schemaFinding(store.schema)]),
    ...store.findings,
  ];
  if (findings.some(({ verdict }) => verdict === "wrong")) process.exitCode = 1;
  if (!json) return printFindings(findings);
  printJson({
    version: packageJson.version,
    store: address === undefined ? "sqlite" : "postgresql",
    schema: store.schema?.schema ?? null,
    newestSchema: store.schema?.newest ?? null,
    steps,
    backupAdvised: steps !== null && steps > 0 && store.schema?.schema !== 0,
    findings,
  });
}

/** The number of steps that the next start takes. */
const stepsOf = ({ schema, newest, fault }: StoreSchema) => (fault === null && schema > 0 ? newest - schema : 0);

function schemaFinding(store: StoreSchema): Finding {
  const { schema, newest, recorded, fault, backup } = store;
  if (fault !== null) return wrong("schema", `the database ${fault.found}`, fault.remedy);
  if (schema === 0) return ok("schema", "none yet: the first start creates it");
  const steps = stepsOf(store);
  if (steps === 0) return ok("schema", `${schema}, the current one: the start changes nothing`);
  const older = newestVersion(recorded) ?? "an older version";
  const taken = `${counted(steps, "step")} from ${schema} to ${newest}`;
  const found = `the next start, or command, takes ${taken}, and ${older} then cannot start`;
  return warning("schema", found, `make a backup first: ${backup}`);
}

/** Settings and keys that are gone, or have another form, stop the start. */
function checkConfigFile(environment: Environment): Finding[] {
  try {
    const file = readConfigFile(environment);
    return [ok("file", file === null ? "no configuration file" : `${file.file} is valid`)];
  } catch (error) {
    if (error instanceof SettingsError) return wrongSettings("file", error);
    throw error;
  }
}

function checkSqlite(dataDir: string): CheckedStore {
  const { findings, schema: found } = checkDatabase(dataDir);
  // A schema that is found is judged below.
  const faults = findings.filter(({ check, verdict }) => verdict === "wrong" && !(found && check === "schema"));
  const servers = isLockHeld(dataDir)
    ? "one runs: it has to stop before this version starts, as it does at a restart"
    : "none runs";
  if (faults.length > 0) return { schema: null, findings: faults };
  const { schema, steps: recorded } = found ?? { schema: 0, steps: [] };
  const fault = faultOfSchema(schema, recorded);
  return {
    schema: { schema, newest: SCHEMA, recorded, fault, backup: "authserve backup FILE" },
    findings: [ok("servers", servers)],
  };
}

async function checkPostgresStore(settings: DatabaseSettings, address: DatabaseAddress): Promise<CheckedStore> {
  const { facts, findings } = await readPostgres(settings, address);
  if (facts === null) return { schema: null, findings };
  const { schema, newestSchema: newest, faults, nodes } = facts;
  const { version, steps: recorded, fault } = schema;
  const broken = (faults ?? []).map(({ found, remedy }) => wrong("writes", found, remedy));
  const backup = "pg_dump --format=custom --schema=authserve --file=FILE";
  return {
    schema: broken.length > 0 ? null : { schema: version, newest, recorded, fault, backup },
    findings: [
      versionFinding(facts, address),
      ...updateFindings(facts),
      ...broken,
      ...nodes.filter(({ isAlive }) => isAlive).map(nodeFinding),
    ],
  };
}

function nodeFinding(node: NodeRecord): Finding {
  const fault = faultBeside(node, packageJson.version);
  if (fault !== null) return wrong("servers", fault.found, fault.remedy);
  const { host, url, version } = node;
  return ok("servers", `${host} ${url} runs ${version}, which may run beside this version`);
}
