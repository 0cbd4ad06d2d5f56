import * as v from "valibot";
import { type Fault, SettingsError, systemCode } from "../errors.ts";
import { USER_ID, USER_ID_FORM } from "./fields.ts";
import { readSecretFile } from "./secrets.ts";
import { REDIS, SETTINGS } from "./setting-table.ts";

export type Environment = Record<string, string | undefined>;

/** Says what a user id is like when this is none, else null. */
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

/** Settings that also come as `NAME_FILE`, the path of a file that holds the value. */
export const SECRET_NAMES = SETTING_NAMES.filter((name) => "secret" in SETTINGS[name]) as SecretName[];

// What decoding puts in the place of bytes that are no UTF-8, in the environment and in files.
const NO_CHARACTER = "\uFFFD";

/** Settings that say how Redis is reached. */
export const REDIS_SETTING_NAMES = Object.keys(REDIS) as (keyof typeof REDIS)[];

export type RedisSettings = Pick<Settings, (typeof REDIS_SETTING_NAMES)[number]>;

/** Where Redis is, by one of them; with none there is none. */
export const REDIS_PLACES = ["REDIS_HOST", "REDIS_SENTINELS", "REDIS_CLUSTER"] as const satisfies SettingName[];

/** Whether settings, or an environment, say where a Redis is. */
export function namesRedis(values: Partial<Record<(typeof REDIS_PLACES)[number], unknown>>): boolean {
  return REDIS_PLACES.some((name) => values[name] !== undefined);
}

const FURTHER_NAME = /\n[ \t]*(?:export[ \t]+)?([A-Z][A-Z0-9_]*)[ \t]*=/g;

/** The names that further lines of a value would set: an open quote in `.env` makes one setting of several. */
export function namesHeld(value: string): string[] {
  return Array.from(value.matchAll(FURTHER_NAME), ([, name = ""]) => name);
}

/** The settings, and the names of secrets' files. */
export const ALL_NAMES: readonly string[] = [...SETTING_NAMES, ...SECRET_NAMES.map((secret) => `${secret}_FILE`)];

/** Whether a name is a setting, or that of a secret's file. */
export function isOurs(name: string): boolean {
  return ALL_NAMES.includes(name);
}

/** What is said of a value that holds further settings. */
export function openQuote(name: string): Fault {
  return { found: `${name} holds the line behind it`, remedy: "close its quote in .env" };
}

/**
 * Reads the named settings, all of them by default; `known` are faults to report with theirs.
 * Throws one {@link SettingsError} of every bad setting.
 */
export function readSettings<const Name extends SettingName = SettingName>(
  environment: Environment,
  names: readonly Name[] = SETTING_NAMES as Name[],
  known: readonly Fault[] = [],
): Pick<Settings, Name> {
  const faults: Fault[] = [...known];
  const values: Environment = {};
  /** Settings of which the report says something already. */
  const told = new Set<string>();
  for (const name of names) {
    values[name] = environment[name];
    if (namesHeld(values[name] ?? "").length === 0) continue;
    faults.push(openQuote(name));
    told.add(name);
  }

  for (const name of SECRET_NAMES) {
    const file = environment[`${name}_FILE`];
    if (!file || !names.includes(name as Name)) continue;
    if (values[name] !== undefined) {
      faults.push({ found: `${name} and ${name}_FILE are both set`, remedy: "remove one" });
      continue;
    }
    try {
      values[name] = readSecretFile(file);
      if (values[name] !== "") continue;
      faults.push({ found: `${name}_FILE names an empty file`, remedy: "put the value in it" });
    } catch (error) {
      faults.push({ found: `${name}_FILE cannot be read (${systemCode(error)})`, remedy: "name a readable file" });
    }
    told.add(name);
  }
  for (const name of names) {
    if (!values[name]?.includes(NO_CHARACTER)) continue;
    faults.push({ found: `${name} is not text in UTF-8`, remedy: "write it in UTF-8, random bytes as base64" });
    told.add(name);
  }

  const entries = Object.fromEntries(names.map((name) => [name, SETTINGS[name].schema]));
  const result = v.safeParse(v.object(entries), values);
  for (const issue of result.issues ?? []) {
    const name = String(issue.path?.[0]?.key);
    if (!told.has(name)) faults.push(faultOf(name, issue));
  }
  faults.push(...contradictions((name) => (names.includes(name as Name) ? values[name] : undefined)));
  if (faults.length > 0) throw new SettingsError(faults);
  return result.output as Pick<Settings, Name>;
}

/** A message of a schema is what was expected, or the end of a sentence about the value, a colon, and the remedy. */
function faultOf(name: string, { received, message }: v.BaseIssue<unknown>): Fault {
  if (received === "undefined")
    return { found: `${name} is not set`, remedy: "set it, or run authserve init where no .env is" };
  const colon = message.indexOf(": ");
  if (message.startsWith("expected ") || colon === -1) return { found: `${name} is not usable`, remedy: message };
  return { found: `${name} ${message.slice(0, colon)}`, remedy: message.slice(colon + 2) };
}

/** What settings that are fine one by one say against each other. */
function contradictions(value: (name: SettingName) => string | undefined): Fault[] {
  const faults: Fault[] = [];
  if ((value("TLS_CERT_FILE") === undefined) !== (value("TLS_KEY_FILE") === undefined)) {
    faults.push({ found: "TLS_CERT_FILE and TLS_KEY_FILE belong together", remedy: "set both or neither" });
  }
  const signing = (["JWT_SECRET", "JWT_SECRET_PREVIOUS"] as const).flatMap((name) => value(name) ?? []);
  for (const name of ["WEBHOOK_SECRET", "WEBHOOK_SECRET_PREVIOUS"] as const) {
    if (!signing.includes(value(name) ?? "")) continue;
    const found = `${name} is the secret of tokens, too: whoever signs webhooks could make a token`;
    faults.push({ found, remedy: "make another one with openssl rand -base64 48" });
  }
  const places = REDIS_PLACES.filter((name) => value(name));
  if (places.length > 1) {
    faults.push({ found: `${places.join(" and ")} are set together`, remedy: "keep the one that leads to your Redis" });
  }
  if (value("REDIS_CLUSTER") !== undefined && Number(value("REDIS_DB") ?? "0") > 0) {
    faults.push({ found: "REDIS_DB does not go with REDIS_CLUSTER, which has database 0 only", remedy: "remove it" });
  }
  if (value("REDIS_TLS_CA_FILE") !== undefined && value("REDIS_TLS") !== "true") {
    faults.push({
      found: "REDIS_TLS_CA_FILE has no effect without TLS",
      remedy: "set REDIS_TLS to true, or remove it",
    });
  }
  return faults;
}
