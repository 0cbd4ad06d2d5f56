import { misspelledNames, readEnvironment, workingDirectory } from "../config/env-file.ts";
import {
  DATABASE_SETTING_NAMES,
  type Environment,
  REDIS_SETTING_NAMES,
  readSettings,
  type SettingName,
} from "../config/settings.ts";
import { OperatorError } from "../errors.ts";
import { checkPostgres } from "./checks/database.ts";
import { checkDatabase, checkFsync, checkSpace } from "./checks/disk.ts";
import { checkEncryption, checkKeys } from "./checks/encryption.ts";
import { checkFactors, checkRelatedOrigin } from "./checks/factors.ts";
import { type Finding, printFindings, warning, wrong, wrongSettings } from "./checks/finding.ts";
import { checkBinding, checkRedis, checkServer, checkTls } from "./checks/network.ts";
import { checkOutages } from "./checks/outages.ts";
import { checkPeople } from "./checks/people.ts";
import { checkAddons, checkClock, checkModes, checkSettings } from "./checks/settings.ts";
import { checkSources } from "./checks/sources.ts";
import { checkTokens } from "./checks/tokens.ts";
import { printJson } from "./output.ts";

/**
 * Checks everything that a server needs, and exits 1 if something is wrong. It leaves no files except the native
 * add-ons, and the empty write-ahead log that SQLite creates when it opens a database.
 */
export async function runDoctor({ json }: { json?: boolean }): Promise<void> {
  // The add-ons come first, because opening the database needs them.
  const findings = checkAddons();
  const canLoad = findings.every(({ verdict }) => verdict === "ok");
  const folder = workingDirectory();
  let environment: Environment = process.env;
  try {
    environment = readEnvironment(folder);
    findings.push(...(await checkSettings(environment)));
    findings.push(...misspelledNames(environment).map(({ found, remedy }) => warning("settings", found, remedy)));
  } catch (error) {
    findings.push(...wrongSettings("settings", error));
  }
  const { DATA_DIR: dataDir = "./data" } = readUsable(environment, ["DATA_DIR"]) ?? {};
  const { ENCRYPTION_KEYS: keyFiles } = readUsable(environment, ["ENCRYPTION_KEYS"]) ?? {};
  findings.push(...checkModes(environment, folder, dataDir, keyFiles));
  const postgres = readUsable(environment, DATABASE_SETTING_NAMES);
  const database = postgres?.DATABASE_URL
    ? await checkPostgres(postgres, postgres.DATABASE_URL)
    : canLoad
      ? checkDatabase(dataDir)
      : withoutAddons;
  findings.push(...notReported(findings, database.findings));
  if (!postgres?.DATABASE_URL) {
    const { MIN_FREE_DISK: minFreeBytes } = readUsable(environment, ["MIN_FREE_DISK"]) ?? {};
    findings.push(checkSpace(dataDir, minFreeBytes), checkFsync(dataDir));
  }
  findings.push(checkClock(Date.now(), database.newestAt));
  const redis = readUsable(environment, ["DEMO_USER_ID", ...REDIS_SETTING_NAMES]);
  if (redis) findings.push(...notReported(findings, await checkRedis(redis)));
  const tls = readUsable(environment, ["TLS_CERT_FILE", "TLS_KEY_FILE"]);
  if (tls) findings.push(...notReported(findings, checkTls(tls)));
  const keys = checkKeys(keyFiles);
  findings.push(...notReported(findings, keys));
  // To open an older database would bring it up to date. Without its keys none is opened.
  const canRead =
    keys.length === 0 &&
    database.findings.every(({ check, verdict }) => verdict === "ok" || (verdict === "warning" && check !== "schema"));
  findings.push(...notReported(findings, await checkSources(environment, canRead, Date.now())));
  if (canRead && postgres && redis) {
    findings.push(...(await checkOutages(environment)), ...(await checkTokens(environment, Date.now())));
    findings.push(...notReported(findings, await checkEncryption(environment)));
  }
  const site = readUsable(environment, ["PUBLIC_URL", "COOKIE_DOMAIN", "PASSKEY_RP_ID"]);
  if (canRead && postgres && redis && site) {
    const people = await checkPeople(environment);
    findings.push(...people.findings, ...people.factors.flatMap((one) => checkFactors(one, site)));
    findings.push(...(await checkRelatedOrigin(site)));
  }
  const binding = readUsable(environment, ["PUBLIC_URL", "COOKIE_DOMAIN", "DEVICE_BOUND"]);
  if (binding) findings.push(...(await checkBinding(binding)));
  const address = readUsable(environment, ["DATA_DIR", "DATABASE_URL", "PORT", "HOST", "TLS_CERT_FILE"]);
  if (address) findings.push(...(await checkServer(address)));

  if (json) printJson(findings);
  else printFindings(findings);
  if (findings.some(({ verdict }) => verdict === "wrong")) process.exitCode = 1;
}

const withoutAddons = {
  findings: [wrong("database", "cannot be checked without the add-ons", "solve their problem first")],
  newestAt: null,
};

/** The findings that were not reported before, e.g. by the check of the settings. */
function notReported(reported: readonly Finding[], findings: readonly Finding[]): Finding[] {
  return findings.filter(({ found }) => !reported.some((finding) => finding.found === found));
}

/** Reads some settings; null if they are bad, which `checkSettings` reports. */
function readUsable<const Name extends SettingName>(environment: Environment, names: readonly Name[]) {
  try {
    return readSettings(environment, names);
  } catch (error) {
    if (error instanceof OperatorError) return null;
    throw error;
  }
}
