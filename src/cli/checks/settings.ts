import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Environment, readSettings, SECRET_NAMES, type Settings } from "../../config/settings.ts";
import { describeError, OperatorError } from "../../errors.ts";
import { reportAddons } from "../../packaging.ts";
import { DATABASE_FILE } from "../../sqlite/database.ts";
import { type Finding, halves, ok, warning, wrong } from "./finding.ts";

const GROUP_OR_OTHERS = 0o077;

/** All settings, or null with the findings that say what is wrong with them. */
export function checkSettings(environment: Environment): { settings: Settings | null; findings: Finding[] } {
  try {
    const settings = readSettings(environment);
    return { settings, findings: [ok("settings", "all are usable")] };
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    const lines = error.message.split("\n").slice(1);
    const findings = lines.map((line) => wrong("settings", ...halves(line.trim())));
    return { settings: null, findings };
  }
}

/** Files that hold secrets may be read by their owner only. */
export function checkModes(environment: Environment, folder: string, dataDir: string): Finding[] {
  const files = [
    join(folder, ".env"),
    dataDir,
    join(dataDir, DATABASE_FILE),
    ...[...SECRET_NAMES.map((name) => `${name}_FILE`), "TLS_KEY_FILE"].flatMap((name) => environment[name] ?? []),
  ].filter(existsSync);
  const open = files.filter((file) => process.platform !== "win32" && (statSync(file).mode & GROUP_OR_OTHERS) !== 0);
  if (open.length === 0) return [ok("file modes", `${files.length} looked at, none is open to others`)];
  return open.map((file) => {
    const mode = (statSync(file).mode & 0o777).toString(8);
    return wrong("file modes", `${file} has mode ${mode}`, `chmod go= ${file}`);
  });
}

export function checkAddons(): Finding[] {
  try {
    const { place, problems } = reportAddons();
    if (problems.length === 0) return [ok("add-ons", place)];
    return problems.map((problem) => wrong("add-ons", problem, "remove it: it is unpacked again when it is needed"));
  } catch (error) {
    return [wrong("add-ons", describeError(error), "name a readable directory in ADDON_DIR")];
  }
}

/** A clock that is wrong makes tokens and timestamped signatures invalid. */
export function checkClock(now: number, newestEventAt: number | null): Finding {
  const time = new Date(now).toISOString();
  const remedy = "set the clock, and keep it set with a time service such as chrony or systemd-timesyncd";
  if (newestEventAt !== null && newestEventAt > now + 60_000) {
    return wrong("clock", `${time}, before the newest event's ${new Date(newestEventAt).toISOString()}`, remedy);
  }
  if (new Date(now).getUTCFullYear() < 2026) return wrong("clock", `${time} is in the past`, remedy);
  return newestEventAt === null
    ? warning("clock", `${time}, nothing to compare it with`, "compare it with a clock you trust")
    : ok("clock", time);
}
