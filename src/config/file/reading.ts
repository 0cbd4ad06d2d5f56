import { dirname, resolve } from "node:path";
import { SettingsError } from "../../errors.ts";
import { readSecretFile } from "../secrets.ts";
import { type Environment, readSettings } from "../settings.ts";
import type { PathFault } from "./faults.ts";
import type { Path, YamlDocument } from "./yaml-document.ts";

/** What the entries of a file are read with. */
export interface EntryContext {
  environment: Environment;
  /** The folder of the file. */
  folder: string;
  /** The data directory, which has the last good content of lists. */
  dataDir: string;
  /** The default limit of bodies. */
  bodyLimitBytes: number;
  /** Secrets that sign tokens. */
  tokenSecrets: readonly string[];
  /** Secrets of the source that the environment makes. */
  defaultSecrets: readonly string[];
  /** Collects each NAME of an `env:NAME`. */
  secretNames: Set<string>;
  /** Collects the files of modules. */
  modules: Set<string>;
}

/** A file that is being read. Faults and warnings are added to it. */
export interface Reading {
  document: YamlDocument;
  context: EntryContext;
  faults: PathFault[];
  warnings: PathFault[];
}

/** The line of the value at a path, or of its key. */
export function lineAt({ document }: Reading, path: Path, at?: "key"): number {
  return document.positionOf(document.offsetOf(path, at)).line;
}

export function contextOf(file: string, environment: Environment): EntryContext {
  const { WEBHOOK_BODY_LIMIT: bodyLimitBytes } = readOr(environment, "WEBHOOK_BODY_LIMIT");
  const secretsOf = (...names: string[]) => names.flatMap((name) => secretOf(environment, name) ?? []);
  const tokenSecrets = secretsOf("JWT_SECRET", "JWT_SECRET_PREVIOUS");
  const defaultSecrets = secretsOf("WEBHOOK_SECRET", "WEBHOOK_SECRET_PREVIOUS");
  const folder = dirname(resolve(file));
  const { DATA_DIR: dataDir } = readOr(environment, "DATA_DIR");
  const collected = { secretNames: new Set<string>(), modules: new Set<string>() };
  return { environment, folder, dataDir, bodyLimitBytes, tokenSecrets, defaultSecrets, ...collected };
}

/** The path of the source that the environment makes; null if it makes none. */
export function pathOfDefaultSource(environment: Environment): string | null {
  if (environment.WEBHOOK_SECRET === undefined && environment.WEBHOOK_SECRET_FILE === undefined) return null;
  return readOr(environment, "WEBHOOK_PATH").WEBHOOK_PATH;
}

/** A setting, or its default if it is wrong, which is reported elsewhere. */
function readOr<Name extends "WEBHOOK_BODY_LIMIT" | "WEBHOOK_PATH" | "DATA_DIR">(environment: Environment, name: Name) {
  try {
    return readSettings(environment, [name]);
  } catch (error) {
    if (error instanceof SettingsError) return readSettings({}, [name]);
    throw error;
  }
}

/** The value of a secret setting; undefined if it is not set or cannot be read. */
function secretOf(environment: Environment, name: string): string | undefined {
  const file = environment[`${name}_FILE`];
  if (environment[name] !== undefined || file === undefined) return environment[name];
  try {
    return readSecretFile(file);
  } catch {
    return undefined;
  }
}
