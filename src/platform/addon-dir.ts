import { existsSync, lstatSync, realpathSync, type Stats } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { readEnvironment } from "../config/env-file.ts";
import type { Environment } from "../config/settings.ts";
import { exitCodeOf, SettingsError, systemCode } from "../errors.ts";
import { makeDir } from "../lib/files.ts";

/** A directory where the native add-ons may be unpacked, and the setting that names it. */
export interface AddonDir {
  dir: string;
  from: string;
}

const GROUP_OR_OTHERS_WRITE = 0o022;
const STICKY = 0o1000;

/**
 * The directories for the native add-ons, best first. If `ADDON_DIR` is set, it is the only one. Otherwise the caches
 * come first, then `DATA_DIR`, because some services can write nothing else, and the temporary directory last.
 */
export function addonDirs(environment: Environment = readableEnvironment()): AddonDir[] {
  const { ADDON_DIR, CACHE_DIRECTORY, XDG_CACHE_HOME, DATA_DIR } = environment;
  if (ADDON_DIR !== undefined) return [{ dir: resolve(ADDON_DIR), from: "ADDON_DIR" }];
  const found: AddonDir[] = [];
  const add = (from: string, dir: string | undefined, ...below: string[]) => {
    if (dir) found.push({ dir: resolve(dir, ...below), from });
  };
  add("CACHE_DIRECTORY", CACHE_DIRECTORY);
  if (XDG_CACHE_HOME) add("XDG_CACHE_HOME", XDG_CACHE_HOME, "authserve");
  else if (process.env.HOME) add("HOME", homedir(), ".cache", "authserve");
  if (DATA_DIR !== undefined || existsSync("data")) add("DATA_DIR", DATA_DIR ?? "data", "addons");
  add("the temporary directory", tmpdir(), `authserve-${process.getuid?.() ?? "addons"}`);
  return found;
}

/** Ignores an unreadable `.env`: a command that needs it reports that itself. */
function readableEnvironment(): Environment {
  try {
    return readEnvironment();
  } catch (error) {
    if (error instanceof SettingsError) return process.env;
    throw error;
  }
}

/**
 * Creates the directory, mode 0700, and returns its real path.
 * Throws an `Error` with the reason when another user could add files to it or replace it.
 */
export function prepareAddonDir(dir: string): string {
  let existing = dir;
  while (!existsSync(existing) && dirname(existing) !== existing) existing = dirname(existing);
  assertOnlyOurs(realpathSync(existing), existing !== dir);
  try {
    makeDir(dir);
  } catch (error) {
    throw exitCodeOf(error) === 1 ? error : new Error(`cannot be created (${systemCode(error)})`);
  }
  const real = realpathSync(dir);
  assertOnlyOurs(real, false);
  return real;
}

/** Throws unless only this user can write the directory and those above it. A sticky directory above is safe. */
function assertOnlyOurs(dir: string, isParent: boolean): void {
  const uid = process.getuid?.();
  if (uid === undefined) return;
  for (let path = dir, above = isParent; ; path = dirname(path), above = true) {
    const { uid: owner, mode } = lstatSync(path) as Stats;
    if (owner !== uid && !(above && owner === 0)) {
      throw new Error(above ? `lies below ${path}, which belongs to another user` : "belongs to another user");
    }
    if ((mode & GROUP_OR_OTHERS_WRITE) !== 0 && !(above && (mode & STICKY) !== 0)) {
      throw new Error(above ? `lies below ${path}, which other users can write` : "can be written by other users");
    }
    if (dirname(path) === path) return;
  }
}

/** The file of an add-on in a directory. The name contains the digest, so that several versions fit in it. */
export function addonFile(dir: string, name: string, sha256: string): string {
  return join(dir, `${name}-${sha256.slice(0, 16)}.node`);
}
