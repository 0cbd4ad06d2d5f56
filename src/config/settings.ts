import * as v from "valibot";
import { type Fault, SettingsError, systemCode } from "../errors.ts";
import { USER_ID, USER_ID_FORM } from "./fields.ts";
import { readSecretFile } from "./secrets.ts";
import { LET_READ, remedyAt, SERVICE_CONF, settingsPlace } from "./service.ts";
import type { Group } from "./setting.ts";
import { BROWSERS, LOGIN } from "./setting-groups/login.ts";
import { NETWORK } from "./setting-groups/network.ts";
import { OPERATION } from "./setting-groups/operation.ts";
import { PROCESSING } from "./setting-groups/processing.ts";
import { DATABASE, ENCRYPTION, REDIS } from "./setting-groups/stores.ts";
import { WEBHOOKS } from "./setting-groups/webhooks.ts";

/** Every setting. */
export const SETTINGS = {
  ...LOGIN,
  ...BROWSERS,
  ...DATABASE,
  ...ENCRYPTION,
  ...REDIS,
  ...NETWORK,
  ...WEBHOOKS,
  ...PROCESSING,
  ...OPERATION,
};

/** The settings by topic, in the order of the reference. */
export const SETTING_GROUPS: Record<string, Group> = {
  "Login and tokens": LOGIN,
  Browsers: BROWSERS,
  PostgreSQL: DATABASE,
  Encryption: ENCRYPTION,
  Redis: REDIS,
  Network: NETWORK,
  Webhooks: WEBHOOKS,
  Processing: PROCESSING,
  Operation: OPERATION,
};

export type Environment = Record<string, string | undefined>;

/** Returns what a user id must look like if the text is not one; else null. */
export function userIdProblem(text: string): string | null {
  return USER_ID.test(text) ? null : USER_ID_FORM;
}

export type SettingName = keyof typeof SETTINGS;
export type Settings = v.InferOutput<
  v.ObjectSchema<{ [Name in SettingName]: (typeof SETTINGS)[Name]["schema"] }, undefined>
>;

export const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[];

type SecretName = {
  [Name in SettingName]: (typeof SETTINGS)[Name] extends { secret: true } ? Name : never;
}[SettingName];

/** Settings that `NAME_FILE`, the path of a file with the value, may set, too. */
export const SECRET_NAMES = SETTING_NAMES.filter((name) => "secret" in SETTINGS[name]) as SecretName[];

// Decoding replaces bytes that are not UTF-8 with this, in the environment and in files.
const REPLACEMENT_CHARACTER = "\uFFFD";

/** Settings of the connection to Redis. */
export const REDIS_SETTING_NAMES = Object.keys(REDIS) as (keyof typeof REDIS)[];

export type RedisSettings = Pick<Settings, (typeof REDIS_SETTING_NAMES)[number]>;

/** Settings of the connection to PostgreSQL. */
export const DATABASE_SETTING_NAMES = Object.keys(DATABASE) as (keyof typeof DATABASE)[];

export type DatabaseSettings = Pick<Settings, (typeof DATABASE_SETTING_NAMES)[number]>;

/** How faults name the file of the authority in `DATABASE_URL`. */
export const DATABASE_CA_FILE = "DATABASE_URL's sslrootcert";

/** Settings that locate Redis. Without any of them, Redis is not used. */
export const REDIS_LOCATION_NAMES = ["REDIS_HOST", "REDIS_SENTINELS", "REDIS_CLUSTER"] as const satisfies SettingName[];

/** Whether settings, or an environment, locate a Redis. */
export function usesRedis(values: Partial<Record<(typeof REDIS_LOCATION_NAMES)[number], unknown>>): boolean {
  return REDIS_LOCATION_NAMES.some((name) => values[name] !== undefined);
}

const LATER_LINE_SETTING = /\n[ \t]*(?:export[ \t]+)?([A-Z][A-Z0-9_]*)[ \t]*=/g;

/**
 * Returns the settings on later lines of a value: an unclosed quote in `.env` joins several settings into one value.
 */
export function settingsOnLaterLines(value: string): string[] {
  return Array.from(value.matchAll(LATER_LINE_SETTING), ([, name = ""]) => name);
}

/** The names of all settings, including the `NAME_FILE` of secrets. */
export const ALL_NAMES: readonly string[] = [...SETTING_NAMES, ...SECRET_NAMES.map((secret) => `${secret}_FILE`)];

/** Whether a name is in {@link ALL_NAMES}. */
export function isSettingName(name: string): boolean {
  return ALL_NAMES.includes(name);
}

/** Returns the fault of a value that contains other settings. */
export function unclosedQuote(name: string): Fault {
  const file = settingsPlace() === "service" ? SERVICE_CONF : ".env";
  return { found: `${name} contains the line after it`, remedy: `close its quote in ${file}` };
}

/**
 * Reads the named settings, by default all. Throws one {@link SettingsError} with the faults of all settings and those
 * in `known`.
 */
export function readSettings<const Name extends SettingName = SettingName>(
  environment: Environment,
  names: readonly Name[] = SETTING_NAMES as Name[],
  known: readonly Fault[] = [],
): Pick<Settings, Name> {
  const faults: Fault[] = [...known];
  const values: Environment = {};
  /** Settings that have a fault already. */
  const reported = new Set<string>();
  for (const name of names) {
    values[name] = environment[name];
    if (settingsOnLaterLines(values[name] ?? "").length === 0) continue;
    faults.push(unclosedQuote(name));
    reported.add(name);
  }

  for (const name of SECRET_NAMES.filter((secret) => names.includes(secret as Name))) {
    const file = environment[`${name}_FILE`];
    if (!file) continue;
    if (values[name] !== undefined) {
      faults.push({ found: `${name} and ${name}_FILE are both set`, remedy: "remove one" });
      continue;
    }
    const read = readSecretSetting(name, file);
    if (typeof read === "string") values[name] = read;
    else {
      faults.push(read);
      reported.add(name);
    }
  }
  for (const name of names) {
    if (!values[name]?.includes(REPLACEMENT_CHARACTER)) continue;
    faults.push({ found: `${name} is not text in UTF-8`, remedy: "write it in UTF-8; encode random bytes in base64" });
    reported.add(name);
  }

  const entries = Object.fromEntries(names.map((name) => [name, SETTINGS[name].schema]));
  const result = v.safeParse(v.object(entries), values);
  faults.push(...faultsOf((result.issues ?? []).filter((issue) => !reported.has(nameIn(issue)))));
  faults.push(...contradictions((name) => (names.includes(name as Name) ? values[name] : undefined)));
  if (faults.length > 0) throw new SettingsError(faults);
  return result.output as Pick<Settings, Name>;
}

/** The value of a secret in a file, or the fault of the file. */
function readSecretSetting(name: string, file: string): string | Fault {
  try {
    const value = readSecretFile(file);
    return value === "" ? { found: `${name}_FILE names an empty file`, remedy: "put the value in it" } : value;
  } catch (error) {
    const code = systemCode(error);
    const remedy = code === "EACCES" ? remedyAt(LET_READ) : "name a readable file";
    return { found: `${name}_FILE cannot be read (${code})`, remedy };
  }
}

const nameIn = (issue: v.BaseIssue<unknown>) => String(issue.path?.[0]?.key);

/** The faults of settings by their schemas. All that are missing are one fault. */
function faultsOf(issues: readonly v.BaseIssue<unknown>[]): Fault[] {
  const isMissing = ({ received }: v.BaseIssue<unknown>) => received === "undefined";
  const missing = issues.filter(isMissing).map(nameIn);
  const wrong = issues.filter((issue) => !isMissing(issue)).map((issue) => faultOf(nameIn(issue), issue));
  return missing.length === 0 ? wrong : [notSet(missing), ...wrong];
}

/** Turns the message of a schema into a fault. It is either "expected …", or "FINDING: REMEDY" to follow the name. */
function faultOf(name: string, { message }: v.BaseIssue<unknown>): Fault {
  const colon = message.indexOf(": ");
  if (message.startsWith("expected ") || colon === -1) return { found: `${name} is not usable`, remedy: message };
  return { found: `${name} ${message.slice(0, colon)}`, remedy: message.slice(colon + 2) };
}

/** What to do about settings that are missing. */
const SET_THEM = {
  service: `run authserve init --system as root, or correct ${SERVICE_CONF}`,
  folder: "for a first start run authserve serve --init, which writes .env; else set what is missing",
};

function notSet(names: readonly string[]): Fault {
  const found = `${names.join(", ")} ${names.length === 1 ? "is" : "are"} not set`;
  return { found, remedy: remedyAt(SET_THEM) };
}

/** Checks settings against each other. */
function contradictions(value: (name: SettingName) => string | undefined): Fault[] {
  const faults: Fault[] = [];
  if ((value("TLS_CERT_FILE") === undefined) !== (value("TLS_KEY_FILE") === undefined)) {
    faults.push({ found: "TLS_CERT_FILE and TLS_KEY_FILE belong together", remedy: "set both or neither" });
  }
  const signing = (["JWT_SECRET", "JWT_SECRET_PREVIOUS"] as const).flatMap((name) => value(name) ?? []);
  for (const name of ["WEBHOOK_SECRET", "WEBHOOK_SECRET_PREVIOUS"] as const) {
    if (!signing.includes(value(name) ?? "")) continue;
    const found = `${name} is also a secret of tokens: the webhook sender could forge tokens`;
    faults.push({ found, remedy: "make a different one with openssl rand -base64 48" });
  }
  if (signing.includes(value("FORWARD_SECRET") ?? "")) {
    const found = "FORWARD_SECRET is also a secret of tokens: the target of events could forge tokens";
    faults.push({ found, remedy: "make a different one with openssl rand -base64 48" });
  }
  const locations = REDIS_LOCATION_NAMES.filter((name) => value(name));
  if (locations.length > 1) {
    faults.push({ found: `${locations.join(" and ")} are set together`, remedy: "keep one of them" });
  }
  if (value("REDIS_CLUSTER") !== undefined && Number(value("REDIS_DB") ?? "0") > 0) {
    faults.push({ found: "REDIS_DB is set, but REDIS_CLUSTER has database 0 only", remedy: "remove REDIS_DB" });
  }
  if (value("REDIS_TLS_CA_FILE") !== undefined && value("REDIS_TLS") !== "true") {
    faults.push({
      found: "REDIS_TLS_CA_FILE has no effect without TLS",
      remedy: "set REDIS_TLS to true, or remove it",
    });
  }
  return faults;
}
