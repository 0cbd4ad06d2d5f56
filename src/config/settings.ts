import { accessSync, constants, existsSync, readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import * as v from "valibot";
import { OperatorError } from "../errors.ts";
import { LOG_LEVELS } from "../log.ts";
import {
  A_DAY,
  addresses,
  duration,
  email,
  fraction,
  host,
  integer,
  keyPrefix,
  networks,
  passwordHash,
  path,
  size,
  strongSecret,
  text,
  threads,
  ttl,
  url,
  yesOrNo,
} from "./fields.ts";
import { readSecretFile } from "./secrets.ts";

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
  REDIS_MASTER_NAME: v.optional(text, "mymaster"),
  REDIS_CLUSTER: v.optional(addresses),
  REDIS_KEY_PREFIX: v.optional(keyPrefix, "authserve:"),
  REDIS_TIMEOUT: v.optional(duration(10, "1s"), "1s"),
  PORT: v.optional(integer(0, 65_535), "3000"),
  HOST: v.optional(host),
  HTTP_THREADS: v.optional(threads(64), "1"),
  TLS_CERT_FILE: v.optional(text),
  TLS_KEY_FILE: v.optional(text),
  TRUSTED_PROXIES: v.optional(networks),
  DATA_DIR: v.optional(text, "./data"),
  ADDON_DIR: v.optional(text),
  LOG_LEVEL: v.optional(v.picklist(LOG_LEVELS, `expected one of ${LOG_LEVELS.join(", ")}`), "info"),
  METRICS_ALLOWED_ADDRESSES: v.optional(networks, "127.0.0.0/8,::1"),
  SHUTDOWN_TIMEOUT: v.optional(duration(0, "10s"), "10s"),
  WEBHOOK_PATH: v.optional(path, "/webhook"),
  WEBHOOK_SECRET: v.optional(text),
  WEBHOOK_ALLOWED_ADDRESSES: v.optional(networks),
  WEBHOOK_BODY_LIMIT: v.optional(size, "1m"),
  WEBHOOK_QUEUE_LIMIT: v.optional(integer(1, 1_000_000), "10000"),
  FORWARD_URL: v.optional(url),
  RETRY_ATTEMPTS: v.optional(integer(1, 100), "5"),
  RETRY_BACKOFF: v.optional(v.picklist(["exponential", "linear"], "expected exponential or linear"), "exponential"),
  RETRY_DELAY: v.optional(duration(1, "1s", A_DAY)),
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
  "WEBHOOK_SECRET",
] as const satisfies SettingName[];

/** Settings that name a file which the server reads. */
const FILE_NAMES = ["TLS_CERT_FILE", "TLS_KEY_FILE", "REDIS_TLS_CA_FILE"] as const satisfies SettingName[];

/** Where Redis is, by one of them; with none there is none. */
export const REDIS_PLACES = ["REDIS_HOST", "REDIS_SENTINELS", "REDIS_CLUSTER"] as const satisfies SettingName[];

/** Whether settings, or an environment, say where a Redis is. */
export function namesRedis(values: Partial<Record<(typeof REDIS_PLACES)[number], unknown>>): boolean {
  return REDIS_PLACES.some((name) => values[name] !== undefined);
}

export type Environment = Record<string, string | undefined>;

/** The `.env` file of a folder below the process's environment, which wins. An empty value counts as not set. */
export function readEnvironment(folder = workingDirectory(), own: Environment = process.env): Environment {
  const file = `${folder}/.env`;
  let fromFile: Environment = {};
  if (existsSync(file)) {
    try {
      fromFile = parseEnv(readFileSync(file, "utf8").replace(/^\uFEFF/, ""));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      const remedy = code === "EISDIR" ? "it is a directory: move it away" : "give its owner read access";
      throw new OperatorError(`.env cannot be read (${code}): ${remedy}`);
    }
  }
  const merged = { ...fromFile };
  for (const [name, value] of Object.entries(own)) if (value !== "") merged[name] = value;
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== "" && value !== undefined));
}

/** The folder that the process runs in. Throws {@link OperatorError} when it is there no more. */
export function workingDirectory(): string {
  try {
    return process.cwd();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new OperatorError(`The working directory cannot be had (${code}): go to the folder of .env`);
  }
}

/** Reads the settings that a server starts with. Throws as {@link readSettings} does, also of a file that is named and cannot be read. */
export function readServerSettings(environment: Environment): Settings {
  return readSettings(environment, SETTING_NAMES, unreadableFiles(environment));
}

function unreadableFiles(environment: Environment): string[] {
  return FILE_NAMES.flatMap((name) => {
    const file = environment[name];
    if (file === undefined) return [];
    try {
      accessSync(file, constants.R_OK);
      return [];
    } catch (error) {
      return [`${name} cannot be read (${(error as NodeJS.ErrnoException).code}): name a readable PEM file`];
    }
  });
}

/**
 * Reads the named settings, all of them by default; `known` are problems to report with theirs.
 * Throws one {@link OperatorError} that lists every bad setting with its remedy and never a value.
 */
export function readSettings<const Name extends SettingName = SettingName>(
  environment: Environment,
  names: readonly Name[] = SETTING_NAMES as Name[],
  known: readonly string[] = [],
): Pick<Settings, Name> {
  const problems: string[] = [...known];
  const values: Environment = {};
  for (const name of names) values[name] = environment[name];

  for (const name of SECRET_NAMES) {
    const file = environment[`${name}_FILE`];
    if (!file || !names.includes(name as Name)) continue;
    if (values[name] !== undefined) {
      problems.push(`${name} and ${name}_FILE are both set: remove one`);
      continue;
    }
    try {
      values[name] = readSecretFile(file);
      if (values[name] === "") problems.push(`${name}_FILE names an empty file: put the value in it`);
    } catch (error) {
      problems.push(`${name}_FILE cannot be read (${(error as NodeJS.ErrnoException).code}): name a readable file`);
      delete values[name];
    }
  }

  const entries = Object.fromEntries(names.map((name) => [name, SCHEMA.entries[name]]));
  const result = v.safeParse(v.object(entries), values);
  for (const issue of result.issues ?? []) {
    const name = String(issue.path?.[0]?.key);
    if (problems.some((problem) => problem.startsWith(`${name}_FILE `))) continue;
    problems.push(
      issue.received === "undefined"
        ? `${name} is not set: run authserve init, or set it`
        : `${name}: ${issue.message}`,
    );
  }
  problems.push(...contradictions((name) => (names.includes(name as Name) ? values[name] : undefined)));
  if (problems.length > 0) throw new OperatorError(["These settings are not usable:", ...problems].join("\n  "));
  return result.output as Pick<Settings, Name>;
}

/** What settings that are fine one by one say against each other. */
function contradictions(value: (name: SettingName) => string | undefined): string[] {
  const problems: string[] = [];
  if ((value("TLS_CERT_FILE") === undefined) !== (value("TLS_KEY_FILE") === undefined)) {
    problems.push("TLS_CERT_FILE and TLS_KEY_FILE belong together: set both or neither");
  }
  const places = REDIS_PLACES.filter((name) => value(name));
  if (places.length > 1) problems.push(`${places.join(" and ")} are both set: keep the one that leads to your Redis`);
  if (value("REDIS_CLUSTER") !== undefined && (value("REDIS_DB") ?? "0") !== "0") {
    problems.push("REDIS_DB: a cluster has database 0 only: remove it");
  }
  if (value("REDIS_TLS_CA_FILE") !== undefined && value("REDIS_TLS") !== "true") {
    problems.push("REDIS_TLS_CA_FILE has no effect without TLS: set REDIS_TLS to true, or remove it");
  }
  return problems;
}
