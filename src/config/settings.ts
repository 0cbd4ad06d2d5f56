import * as v from "valibot";
import { type Fault, SettingsError, systemCode } from "../errors.ts";
import { LOG_LEVELS } from "../log.ts";
import {
  addresses,
  duration,
  email,
  fraction,
  host,
  integer,
  keyPrefix,
  LONGEST_WAIT,
  networks,
  passwordHash,
  path,
  size,
  strongSecret,
  text,
  ttl,
  url,
  yesOrNo,
} from "./fields.ts";
import { readSecretFile } from "./secrets.ts";

export type Environment = Record<string, string | undefined>;

const USER_ID = /^[A-Za-z0-9._:@-]{1,128}$/;
const USER_ID_FORM = "expected 1 to 128 letters, digits and . _ : @ -, e.g. 1";

/** Says what a user id is like when this is none, else null. */
export function userIdProblem(text: string): string | null {
  return USER_ID.test(text) ? null : USER_ID_FORM;
}

/** One schema for the environment. Order is the order of the README's table. */
const SCHEMA = v.object({
  JWT_SECRET: strongSecret,
  JWT_SECRET_PREVIOUS: v.optional(strongSecret),
  JWT_TTL: v.optional(ttl, "900s"),
  DEMO_EMAIL: email,
  DEMO_PASSWORD: passwordHash,
  DEMO_USER_ID: v.optional(v.pipe(text, v.regex(USER_ID, USER_ID_FORM)), "1"),
  REDIS_HOST: v.optional(host),
  REDIS_PORT: v.optional(integer(1, 65_535), "6379"),
  REDIS_USERNAME: v.optional(text),
  REDIS_PASSWORD: v.optional(text),
  REDIS_DB: v.optional(integer(0, 999), "0"),
  REDIS_TLS: v.optional(yesOrNo, "false"),
  REDIS_TLS_CA_FILE: v.optional(text),
  REDIS_SENTINELS: v.optional(addresses),
  REDIS_SENTINEL_PASSWORD: v.optional(text),
  REDIS_MASTER_NAME: v.optional(text, "mymaster"),
  REDIS_CLUSTER: v.optional(addresses),
  REDIS_KEY_PREFIX: v.optional(keyPrefix, "authserve:"),
  REDIS_TIMEOUT: v.optional(duration(10, "1s"), "1s"),
  PORT: v.optional(integer(0, 65_535), "3000"),
  HOST: v.optional(host),
  TLS_CERT_FILE: v.optional(text),
  TLS_KEY_FILE: v.optional(text),
  TRUSTED_PROXIES: v.optional(networks),
  MAX_CONNECTIONS: v.optional(integer(1, 1_000_000), "10000"),
  MAX_CONNECTIONS_PER_ADDRESS: v.optional(integer(1, 1_000_000), "1024"),
  DATA_DIR: v.optional(text, "./data"),
  ADDON_DIR: v.optional(text),
  LOG_LEVEL: v.optional(v.picklist(LOG_LEVELS, `expected one of ${LOG_LEVELS.join(", ")}`), "info"),
  METRICS_ALLOWED_ADDRESSES: v.optional(networks, "127.0.0.0/8,::1"),
  SHUTDOWN_TIMEOUT: v.optional(duration(0, "10s"), "10s"),
  WEBHOOK_PATH: v.optional(path, "/webhook"),
  WEBHOOK_SECRET: v.optional(text),
  WEBHOOK_SECRET_PREVIOUS: v.optional(text),
  WEBHOOK_ALLOWED_ADDRESSES: v.optional(networks),
  WEBHOOK_BODY_LIMIT: v.optional(size, "1m"),
  WEBHOOK_QUEUE_LIMIT: v.optional(integer(1, 1_000_000), "10000"),
  FORWARD_URL: v.optional(url),
  RETRY_ATTEMPTS: v.optional(integer(1, 100), "10"),
  RETRY_BACKOFF: v.optional(v.picklist(["exponential", "linear"], "expected exponential or linear"), "exponential"),
  RETRY_DELAY: v.optional(duration(1, "1s", LONGEST_WAIT)),
  RETRY_JITTER: v.optional(fraction, "0.2"),
  WORKER_CONCURRENCY: v.optional(integer(1, 1000), "10"),
  WORKER_POLL_INTERVAL: v.optional(duration(10, "1s"), "1s"),
  HANDLER_TIMEOUT: v.optional(duration(1, "30s"), "30s"),
});

export type Settings = v.InferOutput<typeof SCHEMA>;
export type SettingName = keyof typeof SCHEMA.entries;

export const SETTING_NAMES = Object.keys(SCHEMA.entries) as SettingName[];

/** Settings that also come as `NAME_FILE`, the path of a file that holds the value. */
export const SECRET_NAMES = [
  "JWT_SECRET",
  "JWT_SECRET_PREVIOUS",
  "DEMO_PASSWORD",
  "REDIS_PASSWORD",
  "REDIS_SENTINEL_PASSWORD",
  "WEBHOOK_SECRET",
  "WEBHOOK_SECRET_PREVIOUS",
] as const satisfies SettingName[];

// What decoding puts in the place of bytes that are no UTF-8, in the environment and in files.
const NO_CHARACTER = "\uFFFD";

/** Settings that say how Redis is reached. */
export const REDIS_SETTING_NAMES = [
  "REDIS_HOST",
  "REDIS_PORT",
  "REDIS_USERNAME",
  "REDIS_PASSWORD",
  "REDIS_DB",
  "REDIS_TLS",
  "REDIS_TLS_CA_FILE",
  "REDIS_SENTINELS",
  "REDIS_SENTINEL_PASSWORD",
  "REDIS_MASTER_NAME",
  "REDIS_CLUSTER",
  "REDIS_KEY_PREFIX",
  "REDIS_TIMEOUT",
] as const satisfies SettingName[];

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

  const entries = Object.fromEntries(names.map((name) => [name, SCHEMA.entries[name]]));
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
