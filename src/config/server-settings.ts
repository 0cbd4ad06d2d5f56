import { accessSync, constants, readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { type Fault, systemCode } from "../errors.ts";
import { faultOfAuthorities, faultOfPair, unreadablePem } from "../lib/pem.ts";
import { type Environment, readSettings, SETTING_NAMES, type SettingName, type Settings } from "./settings.ts";

/** Settings that name a file which the server reads. */
const FILE_NAMES = ["TLS_CERT_FILE", "TLS_KEY_FILE", "REDIS_TLS_CA_FILE"] as const satisfies SettingName[];

/**
 * Reads the settings that a server starts with. Throws as {@link readSettings} does, also of a file that is named and
 * cannot be used.
 */
export function readServerSettings(environment: Environment): Settings {
  return readSettings(environment, SETTING_NAMES, [
    ...unreadableFiles(environment),
    ...unusableFiles(environment),
    ...noDirectory(environment),
  ]);
}

/** What can be known of DATA_DIR without making it. */
function noDirectory({ DATA_DIR }: Environment): Fault[] {
  if (DATA_DIR === undefined) return [];
  try {
    const dir = resolve(DATA_DIR);
    let found = dir;
    while (!statSync(found, { throwIfNoEntry: false })) found = dirname(found);
    if (statSync(found).isDirectory()) return [];
    if (found !== dir)
      return [{ found: "DATA_DIR cannot be created (ENOTDIR)", remedy: "name a directory that this user can write" }];
  } catch {
    // Whoever opens it says what is wrong with it.
    return [];
  }
  return [{ found: "DATA_DIR is no directory", remedy: "name a directory, or none that is there" }];
}

/** Looks without reading: a file may be a pipe, which gives its content once. */
function unreadableFiles(environment: Environment): Fault[] {
  return FILE_NAMES.flatMap((name) => {
    const file = environment[name];
    if (file === undefined) return [];
    try {
      accessSync(file, constants.R_OK);
      return statSync(file).isDirectory() ? [unreadablePem(name, "EISDIR")] : [];
    } catch (error) {
      return [unreadablePem(name, systemCode(error))];
    }
  });
}

/** Whoever uses them looks again: they may be renewed, and what is no plain file is read once only. */
function unusableFiles(environment: Environment): Fault[] {
  const [cert, key, authorities] = FILE_NAMES.map((name) => plainContent(environment[name]));
  const faults = [cert && key && faultOfPair({ cert, key }), authorities && faultOfAuthorities(authorities)];
  return faults.filter((fault) => fault !== undefined);
}

function plainContent(file: string | undefined): Buffer | undefined {
  try {
    return file !== undefined && statSync(file).isFile() ? readFileSync(file) : undefined;
  } catch {
    return undefined;
  }
}
