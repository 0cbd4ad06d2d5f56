import { lstatSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import * as v from "valibot";
import { type Fault, SettingsError, systemCode } from "../../errors.ts";
import { DEFAULT_SOURCE_NAME } from "../../webhook/default-source.ts";
import type { Source } from "../../webhook/source.ts";
import { readSecretFile } from "../secrets.ts";
import { type Environment, readSettings } from "../settings.ts";
import { ConfigFileError, type FileFault, lineOf } from "./errors.ts";
import { faultsOf, keyText, type PathFault, shown, unknownKeys } from "./faults.ts";
import { FileSchema, isSourceName, NAME_EXPECTATION, SourceSchema } from "./schema.ts";
import { type EntryContext, readEntry, readSecrets } from "./source-entry.ts";
import { parseYaml, type YamlDocument } from "./yaml-document.ts";

/** The configuration file, read and checked. */
export interface ConfigFile {
  /** The path as it was given. */
  file: string;
  sources: Source[];
  warnings: string[];
}

const DEFAULT_FILE = "authserve.yaml";

/** The path of the configuration file, which may be missing unless `CONFIG_FILE` names it. */
export function configFileName({ CONFIG_FILE = DEFAULT_FILE }: Environment): string {
  return CONFIG_FILE;
}

/**
 * Reads the configuration file. Returns null if there is none. Throws {@link ConfigFileError} with all of its faults, and
 * `SettingsError` if it cannot be read.
 */
export function readConfigFile(environment: Environment): ConfigFile | null {
  const file = configFileName(environment);
  const text = textOf(file, environment);
  if (text === null) return null;
  const document = parseYaml(text);
  const faults: PathFault[] = [];
  const warnings: PathFault[] = [];
  const sources =
    document.value === undefined ? [] : readSources(document.value, { file, environment, faults, warnings, document });
  const located = [
    ...document.faults.map((fault) => ({ ...fault, key: keyText(fault.path) })),
    ...faults.map((fault) => locate(document, fault)),
  ].sort((one, other) => one.offset - other.offset);
  if (located.length > 0)
    throw new ConfigFileError(
      file,
      located.map((fault) => fileFault(document, fault)),
    );
  return {
    file,
    sources,
    warnings: warnings.map((warning) => lineOf(file, fileFault(document, locate(document, warning)))),
  };
}

interface Located {
  offset: number;
  key: string;
  message: string;
}

function locate(document: YamlDocument, { path, at, message }: PathFault): Located {
  return { offset: document.offsetOf(path, at), key: keyText(path), message };
}

function fileFault(document: YamlDocument, { offset, key, message }: Located): FileFault {
  return { ...document.positionOf(offset), key, message };
}

/** The text of the file; null if there is none and `CONFIG_FILE` names none. */
function textOf(file: string, { CONFIG_FILE }: Environment): string | null {
  // A link that leads nowhere is a mistake.
  if (CONFIG_FILE === undefined && !lstatSync(file, { throwIfNoEntry: false })) return null;
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    const fault: Fault = {
      found: `${file} cannot be read (${systemCode(error)})`,
      remedy: "name a readable file in CONFIG_FILE",
    };
    throw new SettingsError([fault]);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new SettingsError([{ found: `${file} is not UTF-8`, remedy: "save it as UTF-8" }]);
  }
}

interface Reading {
  file: string;
  environment: Environment;
  document: YamlDocument;
  faults: PathFault[];
  warnings: PathFault[];
}

function readSources(value: unknown, reading: Reading): Source[] {
  const { faults, document } = reading;
  if (value === null) return [];
  if (!isMap(value)) {
    faults.push({ path: [], message: `found ${shown(value, [])}, expected a map with sources` });
    return [];
  }
  // The sources are checked one by one, because valibot leaves out names such as `constructor`.
  faults.push(...unknownKeys({ ...value, sources: undefined }, FileSchema, []));
  const entries = value.sources ?? {};
  if (!isMap(entries)) {
    faults.push({ path: ["sources"], message: `found ${shown(entries, [])}, expected a map of names and sources` });
    return [];
  }
  const context = contextOf(reading);
  const taken = takenByEnvironment(reading.environment);
  const paths = new Map<string, string>(taken ? [[taken.path, DEFAULT_SOURCE_NAME]] : []);
  return Object.entries(entries).flatMap(([name, entry]) => {
    const path = ["sources", name];
    if (!isSourceName(name)) faults.push({ path, at: "key", message: `found ${shown(name, [])}, ${NAME_EXPECTATION}` });
    if (taken && name === DEFAULT_SOURCE_NAME) {
      faults.push({
        path,
        at: "key",
        message: "found a name that WEBHOOK_SECRET already makes, expected another name",
      });
    }
    const source = readSource(name, entry, context, reading);
    if (source === null) return [];
    const other = paths.get(source.path);
    if (other !== undefined) {
      const at = other === DEFAULT_SOURCE_NAME && taken ? "the environment" : `line ${lineOfSource(document, other)}`;
      faults.push({
        path: [...path, "path"],
        message: `found ${source.path} a second time, after ${other} (${at}), expected another path`,
      });
    }
    paths.set(source.path, name);
    return [source];
  });
}

function readSource(name: string, entry: unknown, context: EntryContext, { faults, warnings }: Reading): Source | null {
  const base = ["sources", name];
  if (!isMap(entry)) {
    faults.push({
      path: base,
      message: `found ${shown(entry, [])}, expected a map with preset or verify, and secrets`,
    });
    return null;
  }
  const unknown = unknownKeys(entry, SourceSchema, base);
  const result = v.safeParse(SourceSchema, entry);
  const wrong = faultsOf(result.issues ?? [], base);
  faults.push(...unknown, ...wrong);
  const below = (fault: PathFault): PathFault => ({ ...fault, path: [...base, ...fault.path] });
  if (!result.success && wrong.length > 0) {
    const references = v.safeParse(SourceSchema.entries.secrets, entry.secrets);
    if (references.success) faults.push(...readSecrets(references.output, [], context).faults.map(below));
    return null;
  }
  // An unknown key does not hide the other faults.
  const known = result.success ? result.output : (result.output as v.InferOutput<typeof SourceSchema>);
  const read = readEntry(name, known, context);
  faults.push(...read.faults.map(below));
  warnings.push(...read.warnings.map(below));
  return unknown.length > 0 ? null : read.source;
}

function lineOfSource(document: YamlDocument, name: string): number {
  return document.positionOf(document.offsetOf(["sources", name], "key")).line;
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function contextOf({ file, environment }: Reading): EntryContext {
  const { WEBHOOK_BODY_LIMIT: bodyLimitBytes } = readOr(environment, "WEBHOOK_BODY_LIMIT");
  const tokenSecrets = ["JWT_SECRET", "JWT_SECRET_PREVIOUS"].flatMap((name) => secretOf(environment, name) ?? []);
  return { environment, folder: dirname(resolve(file)), bodyLimitBytes, tokenSecrets };
}

/** A setting, or its default if it is wrong, which is reported elsewhere. */
function readOr<Name extends "WEBHOOK_BODY_LIMIT" | "WEBHOOK_PATH">(environment: Environment, name: Name) {
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

/** The path of the source that the environment makes; null if it makes none. */
function takenByEnvironment(environment: Environment): { path: string } | null {
  if (environment.WEBHOOK_SECRET === undefined && environment.WEBHOOK_SECRET_FILE === undefined) return null;
  return { path: readOr(environment, "WEBHOOK_PATH").WEBHOOK_PATH };
}
