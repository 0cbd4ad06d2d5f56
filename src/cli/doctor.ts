import { misspeltNames, readEnvironment, workingDirectory } from "../config/env-file.ts";
import { type Environment, REDIS_SETTING_NAMES, readSettings, type SettingName } from "../config/settings.ts";
import { OperatorError } from "../errors.ts";
import { checkDatabase, checkFsync, checkSpace } from "./checks/disk.ts";
import { type Finding, warning, wrong, wrongBy } from "./checks/finding.ts";
import { checkRedis, checkServer, checkTls } from "./checks/network.ts";
import { checkAddons, checkClock, checkModes, checkSettings } from "./checks/settings.ts";
import { counted, printData, printJson, say } from "./output.ts";
import { styled } from "./table.ts";

/**
 * Looks at everything a server stands on, and exits 1 when something is wrong. It leaves nothing behind but its add-ons, and
 * the empty log that SQLite puts beside a database to read it and that the next start takes over.
 */
export async function runDoctor({ json }: { json?: boolean }): Promise<void> {
  // First, because opening the database needs them.
  const findings = checkAddons();
  const canLoad = findings.every(({ verdict }) => verdict === "ok");
  const folder = workingDirectory();
  let environment: Environment = process.env;
  try {
    environment = readEnvironment(folder);
    findings.push(...checkSettings(environment));
    findings.push(...misspeltNames(environment).map(({ found, remedy }) => warning("settings", found, remedy)));
  } catch (error) {
    findings.push(...wrongBy("settings", error));
  }
  const { DATA_DIR: dataDir = "./data" } = usable(environment, ["DATA_DIR"]) ?? {};
  findings.push(...checkModes(environment, folder, dataDir));
  const database = canLoad ? checkDatabase(dataDir) : withoutAddons;
  findings.push(...untold(findings, database.findings), checkSpace(dataDir), checkFsync(dataDir));
  findings.push(checkClock(Date.now(), database.newestAt));
  const redis = usable(environment, ["DEMO_USER_ID", ...REDIS_SETTING_NAMES]);
  if (redis) findings.push(...untold(findings, await checkRedis(redis)));
  const tls = usable(environment, ["TLS_CERT_FILE", "TLS_KEY_FILE"]);
  if (tls) findings.push(...untold(findings, checkTls(tls)));
  const address = usable(environment, ["DATA_DIR", "PORT", "HOST", "TLS_CERT_FILE"]);
  if (address) findings.push(...(await checkServer(address)));

  if (json) printJson(findings);
  else for (const finding of findings) printData(lineOf(finding));
  const count = findings.filter(({ verdict }) => verdict === "wrong").length;
  if (count === 0) return;
  process.exitCode = 1;
  if (!json) say(`${counted(count, "thing is", "things are")} wrong.`);
}

const withoutAddons = {
  findings: [wrong("database", "cannot be looked at without the add-ons", "mend those first")],
  newestAt: null,
};

/** What the report on settings has not said already. */
function untold(told: readonly Finding[], findings: readonly Finding[]): Finding[] {
  return findings.filter(({ found }) => !told.some((finding) => finding.found === found));
}

/** Some settings, or nothing when they are bad; `checkSettings` has said so then. */
function usable<const Name extends SettingName>(environment: Environment, names: readonly Name[]) {
  try {
    return readSettings(environment, names);
  } catch (error) {
    if (error instanceof OperatorError) return null;
    throw error;
  }
}

const VERDICT_STYLE = { ok: "green", warning: "yellow", wrong: "red" } as const;

function lineOf({ check, verdict, found, remedy }: Finding): string {
  return `${styled(VERDICT_STYLE[verdict], verdict.padEnd(8))} ${check.padEnd(10)} ${found}${remedy === null ? "" : ` → ${remedy}`}`;
}
