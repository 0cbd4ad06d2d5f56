import { type Stats, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { readServerSettings } from "../../config/server-settings.ts";
import type { Environment } from "../../config/settings.ts";
import { SECRET_NAMES } from "../../config/settings.ts";
import { describeError } from "../../errors.ts";
import { openMode } from "../../lib/files.ts";
import { reportAddons } from "../../platform/checkout.ts";
import { DATABASE_FILE } from "../../sqlite/database.ts";
import { shellWord } from "../shell-quote.ts";
import { type Finding, ok, warning, wrong, wrongBy } from "./finding.ts";

const STICKY = 0o1000;

export function checkSettings(environment: Environment): Finding[] {
  try {
    readServerSettings(environment);
    return [ok("settings", "all are usable")];
  } catch (error) {
    return wrongBy("settings", error);
  }
}

/** Files that hold secrets may be read by their owner only. */
export function checkModes(environment: Environment, folder: string, dataDir: string): Finding[] {
  const secret = [...SECRET_NAMES.map((name) => `${name}_FILE`), "TLS_KEY_FILE"].flatMap(
    (name) => environment[name] ?? [],
  );
  const paths = [join(folder, ".env"), dataDir, join(dataDir, DATABASE_FILE), ...secret];
  const found = paths.flatMap((path) => {
    const stats = statOf(path);
    return stats ? [{ path, stats }] : [];
  });
  const open = found.filter(({ stats }) => openMode(stats) !== null);
  if (open.length === 0) return [ok("file modes", `${found.length} looked at, none is open to others`)];
  return open.map(({ path, stats }) => {
    const isShared = path === dataDir && (!stats.isDirectory() || !isOurs(stats) || isSystems(path, stats));
    const remedy = isShared ? "name a directory of its own in DATA_DIR" : `chmod go= ${shellWord(path)}`;
    return wrong("file modes", `${path} has mode ${openMode(stats)}`, remedy);
  });
}

/** Root may close what belongs to the service's user. */
function isOurs({ uid }: Stats): boolean {
  const own = process.getuid?.();
  return own === 0 || uid === own;
}

/** Null of what is not there, and of what this user may not look at: another check says so. */
function statOf(path: string): Stats | null {
  try {
    return statSync(path);
  } catch {
    return null;
  }
}

/** A directory that others stand on: the root, what lies directly below it, and those that everybody may write. */
function isSystems(dir: string, { mode }: Stats): boolean {
  return dirname(dirname(resolve(dir))) === dirname(resolve(dir)) || (mode & STICKY) !== 0;
}

export function checkAddons(): Finding[] {
  try {
    const { place, faults } = reportAddons();
    if (faults.length === 0) return [ok("add-ons", place)];
    return faults.map(({ found, remedy }) => wrong("add-ons", found, remedy));
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
