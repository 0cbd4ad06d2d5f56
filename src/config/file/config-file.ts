import { lstatSync, readFileSync } from "node:fs";
import * as v from "valibot";
import type { AlertConfig } from "../../alerts/watch.ts";
import type { AccessRule } from "../../auth/access/rules.ts";
import { type Fault, SettingsError, systemCode } from "../../errors.ts";
import { DEFAULT_RETENTION, type Retention } from "../../events/retention.ts";
import { NAME } from "../../lib/name.ts";
import { DEFAULT_SOURCE_NAME } from "../../webhook/default-source.ts";
import type { Source } from "../../webhook/source.ts";
import { type Environment, isSettingName } from "../settings.ts";
import { AccessSchema, readAccess } from "./access.ts";
import { AlertsSchema, DEFAULT_ALERTS, readAlerts } from "./alerts.ts";
import { ConfigFileError, type FileFault, lineOf } from "./errors.ts";
import { NAME_EXPECTATION, textLike } from "./fields.ts";
import { contextOf, type PathFault, pathOfDefaultSource, Reading } from "./reading.ts";
import { RetentionSchema, retentionOf } from "./retention.ts";
import { type RouteEntry, RouteSchema, readRoutes } from "./route.ts";
import { readShadows, type ShadowEntry } from "./shadow.ts";
import { isMap, keyText, readShape } from "./shape.ts";
import { readSources, SourceSchema } from "./source.ts";
import { parseYaml, type YamlDocument } from "./yaml-document.ts";

/** The configuration file, read and checked. */
export interface ConfigFile {
  /** The path as it was given. */
  file: string;
  sources: Source[];
  /** Null without `routes` in the file. */
  routes: RouteEntry[] | null;
  shadows: ShadowEntry[];
  retention: Retention;
  alerts: AlertConfig;
  access: AccessRule[];
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
 * Reads the configuration file. Returns null if there is none. Throws {@link ConfigFileError} with all of its faults,
 * and `SettingsError` if it cannot be read.
 */
export function readConfigFile(environment: Environment): ConfigFile | null {
  const file = configFileName(environment);
  const text = configText(file, environment);
  return text === null ? null : readConfigText(text, file, environment);
}

/** Reads a text as the configuration file. Throws {@link ConfigFileError} with all of its faults. */
export function readConfigText(text: string, file: string, environment: Environment): ConfigFile {
  const document = parseYaml(text);
  const context = contextOf(file, environment);
  const reading = new Reading(document, context);
  const entries = readEntries(document.value, reading);
  const modules = [...context.modules];
  throwFaults(file, reading, modules);
  const warnings = reading.warnings.map((warning) => lineOf(file, fileFault(document, locate(document, warning))));
  return { file, ...entries, modules, secretNames: [...context.secretNames], warnings };
}

/**
 * Reads only `retention` of the configuration file, for commands that need no secrets. Throws like {@link
 * readConfigFile} for faults in it, and for a file that is not YAML.
 */
export function readRetentionOf(environment: Environment): Retention {
  const file = configFileName(environment);
  const text = configText(file, environment);
  if (text === null) return DEFAULT_RETENTION;
  const document = parseYaml(text);
  const reading = new Reading(document, contextOf(file, environment), ["retention"]);
  const entry = isMap(document.value) ? document.value.retention : undefined;
  const known = entry === undefined ? undefined : readShape(entry, RetentionSchema, reading);
  throwFaults(file, reading, []);
  return retentionOf(known);
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
export function configText(file: string, { CONFIG_FILE }: Environment): string | null {
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

/** The whole file. */
export const FileSchema = v.strictObject(
  {
    sources: v.optional(
      v.pipe(
        v.record(textLike(NAME, NAME_EXPECTATION), SourceSchema, "expected a map of names and sources"),
        v.description("The senders of webhooks, by name."),
      ),
    ),
    routes: v.optional(
      v.pipe(
        v.array(RouteSchema, "expected a list of routes"),
        v.minLength(1),
        v.description("What processes the events. An event takes every route that matches it."),
      ),
    ),
    retention: v.optional(v.pipe(RetentionSchema, v.description("How long events are kept."))),
    alerts: v.optional(v.pipe(AlertsSchema, v.description("When alerts fire, and where they are sent."))),
    access: v.optional(
      v.pipe(
        v.array(AccessSchema, "expected a list of entries"),
        v.description(
          "Who passes forward-auth. The first entry that matches decides; without one a session or a token is needed.",
        ),
      ),
    ),
  },
  "expected a map with sources and routes",
);

type Entries = Pick<ConfigFile, "sources" | "routes" | "shadows" | "retention" | "alerts" | "access">;

function readEntries(value: unknown, reading: Reading): Entries {
  const { environment } = reading.context;
  const given = isMap(value) ? { ...value, sources: value.sources ?? {} } : value;
  // An empty file is null, and one with syntax errors is undefined.
  const known = readShape(given ?? {}, FileSchema, reading) ?? {};
  const { sources = {}, routes, retention, alerts, access = [] } = known;
  if ("routes" in known && environment.FORWARD_URL !== undefined)
    reading
      .at("routes")
      .fault(
        "found beside the setting FORWARD_URL, expected one of them: remove it, or write it as to: in a route",
        "key",
      );
  const names = known.sources === undefined && "sources" in known ? null : new Set(Object.keys(sources));
  if (pathOfDefaultSource(environment) !== null) names?.add(DEFAULT_SOURCE_NAME);
  return {
    sources: readSources(sources, reading.at("sources")),
    routes: routes === undefined ? null : readRoutes(routes, names, reading.at("routes")),
    shadows: readShadows(routes ?? [], reading.at("routes")),
    retention: retentionOf(retention),
    alerts: alerts === undefined ? DEFAULT_ALERTS : readAlerts(alerts, reading.at("alerts")),
    access: readAccess(access, reading.at("access")),
  };
}

/** The environment of programs and modules that process events: without settings, and without secrets of the file. */
export function handlerEnvironment(environment: Environment, file: ConfigFile | null): Environment {
  const hidden = new Set(file?.secretNames);
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !isSettingName(name) && !hidden.has(name)));
}
