import { lstatSync, readFileSync } from "node:fs";
import type * as v from "valibot";
import type { AlertConfig } from "../../alerts/watch.ts";
import type { AccessRule } from "../../auth/access/rules.ts";
import { usernameIn } from "../../auth/clients/claims.ts";
import type { Client } from "../../auth/clients/client.ts";
import { othersOf, type PersonEntry } from "../../auth/people/people.ts";
import { SettingsError, systemCode } from "../../errors.ts";
import { DEFAULT_RETENTION, type Retention } from "../../events/retention.ts";
import { isObject } from "../../lib/json.ts";
import type { Source } from "../../webhook/source.ts";
import { type Environment, isSettingName } from "../settings.ts";
import { AccessSchema } from "./access.ts";
import { AlertsSchema, DEFAULT_ALERTS } from "./alerts.ts";
import { ClientsSchema } from "./client.ts";
import { ConfigFileError, type FileFault, lineOf } from "./errors.ts";
import { key, listOf } from "./fields.ts";
import { PeopleSchema } from "./people.ts";
import { contextOf, type PathFault, Reading } from "./reading.ts";
import { RetentionSchema } from "./retention.ts";
import { type RouteEntry, RouteSchema } from "./route.ts";
import type { ShadowEntry } from "./shadow.ts";
import { keyText, map, readValue } from "./shape.ts";
import { SourcesSchema } from "./source.ts";
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
  /** Null without `people` in the file. */
  people: PersonEntry[] | null;
  access: AccessRule[];
  clients: Client[];
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
  const context = contextOf(file, document.value, environment);
  const reading = new Reading(document, context);
  // An empty file, or `sources`, is null, and a file with syntax errors is undefined.
  const { value = {} } = document;
  const given = isObject(value) ? { ...value, sources: value.sources ?? {} } : (value ?? {});
  const entries = readValue(given, FileSchema, reading);
  const modules = [...context.modules];
  throwFaults(file, reading, modules);
  const warnings = context.warnings.map((warning) => lineOf(file, fileFault(document, warning)));
  return { file, ...(entries as Entries), modules, secretNames: [...context.secretNames], warnings };
}

/**
 * Reads only `retention` of the configuration file, for commands that need no secrets. Throws like {@link
 * readConfigFile} for faults in it, and for a file that is not YAML.
 */
export const readRetentionOf = (environment: Environment): Retention =>
  readPartOf(environment, "retention", RetentionSchema) ?? DEFAULT_RETENTION;

/** Reads only `people` of the configuration file; null without it. Throws like {@link readRetentionOf}. */
export const readPeopleOf = (environment: Environment): PersonEntry[] | null =>
  readPartOf(environment, "people", PeopleSchema) ?? null;

function readPartOf<const Of extends v.GenericSchema>(
  environment: Environment,
  name: string,
  schema: Of,
): v.InferOutput<Of> | undefined {
  const file = configFileName(environment);
  const text = configText(file, environment);
  if (text === null) return undefined;
  const document = parseYaml(text);
  const reading = new Reading(document, contextOf(file, document.value, environment), [name]);
  const entry = isObject(document.value) ? document.value[name] : undefined;
  const part = entry === undefined ? undefined : readValue(entry, schema, reading);
  throwFaults(file, reading, []);
  return part;
}

/** Throws a {@link ConfigFileError} with all faults in the order of the file, if there are any. */
function throwFaults(file: string, { document, context, faults }: Reading, modules: readonly string[]): void {
  const found = [...document.faults, ...context.unknownKeys, ...faults]
    .map((fault) => fileFault(document, fault))
    .sort((one, other) => one.line - other.line || one.column - other.column);
  if (found.length > 0) throw new ConfigFileError(file, found, modules);
}

/** A fault with its line and column. */
function fileFault(document: YamlDocument, fault: PathFault & { offset?: number }): FileFault {
  const { path, at, message, offset = document.offsetOf(path, at) } = fault;
  return { ...document.positionOf(offset), key: keyText(path), message };
}

/** The text of the file; null if there is none and `CONFIG_FILE` names none. */
export function configText(file: string, { CONFIG_FILE }: Environment): string | null {
  // A link that leads nowhere is a mistake.
  if (CONFIG_FILE === undefined && !lstatSync(file, { throwIfNoEntry: false })) return null;
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    throw new SettingsError([
      { found: `${file} cannot be read (${systemCode(error)})`, remedy: "name a readable file" },
    ]);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new SettingsError([{ found: `${file} is not UTF-8`, remedy: "save it as UTF-8" }]);
  }
}

type Entries = Pick<
  ConfigFile,
  "sources" | "routes" | "shadows" | "retention" | "alerts" | "people" | "access" | "clients"
>;

/** The whole file. */
export const FileSchema = map(
  {
    sources: key(SourcesSchema, "The senders of webhooks, by name."),
    routes: key(
      listOf(RouteSchema, "route", "expected a list of routes"),
      "What processes the events. An event takes every route that matches it.",
    ),
    retention: key(RetentionSchema, "How long events are kept."),
    alerts: key(AlertsSchema, "When alerts fire, and where they are sent."),
    people: key(
      PeopleSchema,
      "Who can log in besides the person of `DEMO_EMAIL`, by id: at most 10, each with one live session. Default: nobody.",
    ),
    access: key(
      AccessSchema,
      "Who passes forward-auth. The first entry that matches decides; without one a session or a token is needed.",
    ),
    clients: key(ClientsSchema, "The apps that log in through this service, by OpenID Connect, by their `client_id`."),
  },
  "expected a map with sources and routes",
  {
    check(entry, reading) {
      checkAllowed(entry, reading);
      checkClaims(entry, reading);
      if ("routes" in entry && reading.context.environment.FORWARD_URL !== undefined)
        reading
          .at("routes")
          .fault(
            "found beside the setting FORWARD_URL, expected one of them: remove it, or write it as to: in a route",
            "key",
          );
    },
    read: ({
      sources = [],
      routes,
      retention = DEFAULT_RETENTION,
      alerts = DEFAULT_ALERTS,
      people = null,
      access = [],
      clients = [],
    }): Entries => ({
      sources,
      routes: routes?.filter((route): route is RouteEntry => !("of" in route)) ?? null,
      shadows: routes?.filter((route): route is ShadowEntry => "of" in route) ?? [],
      retention,
      alerts,
      people,
      access,
      clients,
    }),
  },
);

type Given = { [Key in "people" | "access" | "clients"]?: Exclude<Entries[Key], null> | undefined };

/** Refuses entries for people who are not there, and warns of groups that nobody is in. */
function checkAllowed({ people, access = [], clients = [] }: Given, reading: Reading): void {
  const lists = [
    ...access.map(({ allow }, index) => ({ place: reading.at("access", index, "allow"), allow })),
    ...clients.map(({ name, allow }) => ({ place: reading.at("clients", name, "allow"), allow: allow ?? [] })),
  ];
  for (const { place, allow } of lists)
    for (const allowed of allow === "everyone" ? [] : allow) {
      const [kind, name = ""] = allowed.split(":", 2);
      if (kind === "person" && !people?.some((person) => person.name === name))
        place.fault(`found ${allowed}, expected an id of people`);
      if (kind === "group" && !people?.some(({ groups }) => groups.includes(name)))
        place.warn(`names ${allowed}, and nobody of people is in that group`);
    }
}

/** Warns of claims that people do not get, and refuses the id of one of them as the user name of another person. */
function checkClaims({ people = [], clients = [] }: Given, reading: Reading): void {
  const { DEMO_EMAIL: email = "" } = reading.context.environment;
  const isListed = othersOf({ email }, people).length < people.length;
  for (const { name, claims } of people.length === 0 ? [] : clients) {
    const place = reading.at("clients", name);
    const username = claims.username ?? usernameIn(email);
    if (claims.groups.length > 0 || claims.username !== null)
      place
        .at("claims")
        .warn("has groups or a username, which only the person of DEMO_EMAIL gets, unless people has it: remove them");
    if (!isListed && people.some((person) => person.name === username.toLowerCase()))
      place.fault(
        `found ${username} as the user name of the person of DEMO_EMAIL, which is an id of people: set claims.username, or list that e-mail in people`,
      );
  }
}

/** The environment of programs and modules that process events: without settings, and without secrets of the file. */
export function handlerEnvironment(environment: Environment, file: ConfigFile | null): Environment {
  const hidden = new Set(file?.secretNames);
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !isSettingName(name) && !hidden.has(name)));
}
