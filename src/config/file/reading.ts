import { dirname, resolve } from "node:path";
import { SettingsError } from "../../errors.ts";
import { readSecretFile } from "../secrets.ts";
import { type Environment, readSettings } from "../settings.ts";
import { type Outline, outlineOf } from "./outline.ts";
import type { Path, YamlDocument } from "./yaml-document.ts";

/** What the entries of a file are read with. */
interface Context {
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
  outline: Outline;
  /** Collects keys that no schema knows. What is beside them can be used. */
  unknownKeys: PathFault[];
  /** Collects what is probably not meant. */
  warnings: PathFault[];
}

/** A fault at a path. `at` is "key" if the key itself is wrong. */
export interface PathFault {
  path: Path;
  at?: "key";
  message: string;
}

/** A place of a file that is being read. */
export class Reading {
  readonly document: YamlDocument;
  readonly context: Context;
  readonly path: Path;
  readonly faults: PathFault[];

  constructor(document: YamlDocument, context: Context, path: Path = [], faults: PathFault[] = []) {
    this.document = document;
    this.context = context;
    this.path = path;
    this.faults = faults;
  }

  /** The place below this one. */
  at(...below: Path): Reading {
    return new Reading(this.document, this.context, [...this.path, ...below], this.faults);
  }

  /** This place, with faults of its own. */
  alone(): Reading {
    return new Reading(this.document, this.context, this.path);
  }

  get isWrong(): boolean {
    return this.faults.length > 0;
  }

  /** Adds a fault of this place, or of its key. Returns null, for what cannot be read. */
  fault(message: string, at?: "key"): null {
    this.faults.push({ path: this.path, message, ...(at && { at }) });
    return null;
  }

  unknownKey(message: string): void {
    this.context.unknownKeys.push({ path: this.path, message, at: "key" });
  }

  warn(message: string): void {
    this.context.warnings.push({ path: this.path, message });
  }

  /** The line of the value at a path, or of its key. */
  lineOf(path: Path, at?: "key"): number {
    return this.document.positionOf(this.document.offsetOf(path, at)).line;
  }
}

/** What a file of this content is read with. */
export function contextOf(file: string, content: unknown, environment: Environment): Context {
  const secretsOf = (...names: string[]) => names.flatMap((name) => secretOf(environment, name) ?? []);
  return {
    environment,
    folder: dirname(resolve(file)),
    dataDir: readOr(environment, "DATA_DIR").DATA_DIR,
    bodyLimitBytes: readOr(environment, "WEBHOOK_BODY_LIMIT").WEBHOOK_BODY_LIMIT,
    tokenSecrets: secretsOf("JWT_SECRET", "JWT_SECRET_PREVIOUS"),
    defaultSecrets: secretsOf("WEBHOOK_SECRET", "WEBHOOK_SECRET_PREVIOUS"),
    outline: outlineOf(content, pathOfDefaultSource(environment) !== null),
    secretNames: new Set(),
    modules: new Set(),
    unknownKeys: [],
    warnings: [],
  };
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
