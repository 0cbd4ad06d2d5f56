import { type Stats, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { readServerSettings } from "../../config/server-settings.ts";
import type { Environment } from "../../config/settings.ts";
import { SECRET_NAMES } from "../../config/settings.ts";
import { browserFaults } from "../../config/warnings.ts";
import { describeError } from "../../errors.ts";
import { faultOfClock } from "../../events/clock-fault.ts";
import { openMode } from "../../lib/files.ts";
import { isoTime } from "../../lib/iso-time.ts";
import { reportAddons } from "../../platform/checkout.ts";
import { DATABASE_FILE } from "../../sqlite/database.ts";
import { shellWord } from "../shell-quote.ts";
import { type Finding, ok, warning, wrong, wrongSettings } from "./finding.ts";

const STICKY = 0o1000;

export async function checkSettings(environment: Environment): Promise<Finding[]> {
  try {
    const settings = await readServerSettings(environment);
    const warnings = browserFaults(settings).map(({ found, remedy }) => warning("settings", found, remedy));
    return [ok("settings", "all are valid"), ...warnings];
  } catch (error) {
    return wrongSettings("settings", error);
  }
}

/** Checks that only the owner can read files with secrets. */
export function checkModes(
  environment: Environment,
  folder: string,
  dataDir: string,
  keyFiles: readonly string[] = [],
): Finding[] {
  const secret = [...SECRET_NAMES.map((name) => `${name}_FILE`), "TLS_KEY_FILE"].flatMap(
    (name) => environment[name] ?? [],
  );
  const paths = [join(folder, ".env"), dataDir, join(dataDir, DATABASE_FILE), ...secret, ...keyFiles];
  const found = paths.flatMap((path) => {
    const stats = statOf(path);
    return stats ? [{ path, stats }] : [];
  });
  const open = found.filter(({ stats }) => openMode(stats) !== null);
  if (open.length === 0) return [ok("file modes", `${found.length} checked, none is open to others`)];
  return open.map(({ path, stats }) => {
    const isShared = path === dataDir && (!stats.isDirectory() || !isClosable(stats) || isSystemDirectory(path, stats));
    const remedy = isShared ? "set DATA_DIR to a directory of its own" : `chmod go= ${shellWord(path)}`;
    return wrong("file modes", `${path} has mode ${openMode(stats)}`, remedy);
  });
}

/** Whether this user may change the mode. Root may do so for the service's user. */
function isClosable({ uid }: Stats): boolean {
  const own = process.getuid?.();
  return own === 0 || uid === own;
}

/** Null if the file does not exist or is not accessible. Another check reports that. */
function statOf(path: string): Stats | null {
  try {
    return statSync(path);
  } catch {
    return null;
  }
}

/**
 * Whether other programs need a directory: the root, a directory directly below it, or one that everybody may write.
 */
function isSystemDirectory(dir: string, { mode }: Stats): boolean {
  return dirname(dirname(resolve(dir))) === dirname(resolve(dir)) || (mode & STICKY) !== 0;
}

export function checkAddons(): Finding[] {
  try {
    const { place, faults } = reportAddons();
    if (faults.length === 0) return [ok("add-ons", place)];
    return faults.map(({ found, remedy }) => wrong("add-ons", found, remedy));
  } catch (error) {
    return [wrong("add-ons", describeError(error), "set ADDON_DIR to a readable directory")];
  }
}

/** Checks the clock: a wrong one makes tokens and timestamped signatures invalid. */
export function checkClock(now: number, newestEventAt: number | null): Finding {
  const fault = faultOfClock(now, newestEventAt);
  if (fault) return (fault.isCertain ? wrong : warning)("clock", fault.found, fault.remedy);
  const time = isoTime(now);
  return newestEventAt === null
    ? warning("clock", `${time}, with no event to compare it to`, "compare it to a clock that you trust")
    : ok("clock", time);
}
