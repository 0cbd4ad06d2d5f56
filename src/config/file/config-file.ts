import { lstatSync, readFileSync } from "node:fs";
import type { AlertConfig } from "../../alerts/watch.ts";
import { type Fault, SettingsError, systemCode } from "../../errors.ts";
import { DEFAULT_RETENTION, type Retention } from "../../events/retention.ts";
import { DEFAULT_SOURCE_NAME } from "../../webhook/default-source.ts";
import type { Source } from "../../webhook/source.ts";
import type { Environment } from "../settings.ts";
import { DEFAULT_ALERTS, readAlerts } from "./alerts-entry.ts";
import { ConfigFileError, type FileFault, lineOf } from "./errors.ts";
import { isMap, keyText, type PathFault, shown, unknownKeys } from "./faults.ts";
import { contextOf, pathOfDefaultSource, type Reading } from "./reading.ts";
import { readRetention } from "./retention-entry.ts";
import type { RouteEntry } from "./route-entry.ts";
import { readRouteList } from "./route-list.ts";
import { FileSchema } from "./schema.ts";
import { readSourceList } from "./source-list.ts";
import { parseYaml, type YamlDocument } from "./yaml-document.ts";

/** The configuration file, read and checked. */
export interface ConfigFile {
  /** The path as it was given. */
  file: string;
  sources: Source[];
  /** Null without `routes` in the file. */
  routes: RouteEntry[] | null;
  retention: Retention;
  alerts: AlertConfig;
  /** The files of modules, as absolute paths. */
  modules: string[];
  /** Each NAME of an `env:NAME`, which handlers must not get. */
  secretNames: string[];
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
  const context = contextOf(file, environment);
  const reading: Reading = { document, context, faults: [], warnings: [] };
  const entries = readEntries(document.value, reading);
  const modules = [...context.modules];
  throwFaults(file, reading, modules);
  const warnings = reading.warnings.map((warning) => lineOf(file, fileFault(document, locate(document, warning))));
  return { file, ...entries, modules, secretNames: [...context.secretNames], warnings };
}

/**
 * Reads only `retention` of the configuration file, for commands that need no secrets. Throws like {@link readConfigFile} for
 * faults in it, and for a file that is not YAML.
 */
export function readRetentionOf(environment: Environment): Retention {
  const file = configFileName(environment);
  const text = textOf(file, environment);
  if (text === null) return DEFAULT_RETENTION;
  const document = parseYaml(text);
  const reading: Reading = { document, context: contextOf(file, environment), faults: [], warnings: [] };
  const retention = readRetention(isMap(document.value) ? document.value.retention : undefined, reading);
  throwFaults(file, reading, []);
  return retention;
}

/** Throws a {@link ConfigFileError} with all faults in the order of the file, if there are any. */
function throwFaults(file: string, { document, faults }: Reading, modules: readonly string[]): void {
  const located = [
    ...document.faults.map((fault) => ({ ...fault, key: keyText(fault.path) })),
    ...faults.map((fault) => locate(document, fault)),
  ].sort((one, other) => one.offset - other.offset);
  if (located.length === 0) return;
  throw new ConfigFileError(
    file,
    located.map((fault) => fileFault(document, fault)),
    modules,
  );
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

type Entries = Pick<ConfigFile, "sources" | "routes" | "retention" | "alerts">;

function readEntries(value: unknown, reading: Reading): Entries {
  const { faults, context } = reading;
  const nothing: Entries = { sources: [], routes: null, retention: DEFAULT_RETENTION, alerts: DEFAULT_ALERTS };
  // An empty file is null, and one with syntax errors is undefined.
  if (value === null || value === undefined) return nothing;
  if (!isMap(value)) {
    faults.push({ path: [], message: `found ${shown(value, [])}, expected a map with sources and routes` });
    return nothing;
  }
  const names = ["sources", "routes", "retention", "alerts"];
  const withoutValues = Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, names.includes(name) ? undefined : member]),
  );
  faults.push(...unknownKeys(withoutValues, FileSchema, []));
  const entries = value.sources ?? {};
  const sourceNames = isMap(entries) ? new Set(Object.keys(entries)) : null;
  if (pathOfDefaultSource(context.environment) !== null) sourceNames?.add(DEFAULT_SOURCE_NAME);
  const routes = value.routes === undefined ? null : readRouteList(value.routes, sourceNames, reading);
  const others = {
    routes,
    retention: readRetention(value.retention, reading),
    alerts: readAlerts(value.alerts, reading),
  };
  if (isMap(entries)) return { sources: readSourceList(entries, reading), ...others };
  faults.push({ path: ["sources"], message: `found ${shown(entries, [])}, expected a map of names and sources` });
  return { ...nothing, ...others };
}
