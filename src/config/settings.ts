import { existsSync, readFileSync } from "node:fs";
import { BlockList, isIP } from "node:net";
import { parseEnv } from "node:util";
import * as v from "valibot";
import { isEmail } from "../email.ts";
import { OperatorError } from "../errors.ts";
import { LOG_LEVELS } from "../log.ts";
import { type PasswordHash, parsePasswordHash } from "../password-hash.ts";
import { parseDurationMs, parseSizeBytes, parseTtlSeconds } from "./duration.ts";
import { readSecretFile, weaknessOf } from "./secrets.ts";

export const DEFAULT_TTL_SECONDS = 900;
const MAX_TTL_SECONDS = 30 * 86_400;

const text = v.string();

function parsed<T>(read: (value: string) => T | null, expectation: string) {
  return v.pipe(
    text,
    v.rawTransform(({ dataset, addIssue, NEVER }): T => {
      const value = read(dataset.value);
      if (value !== null) return value;
      addIssue({ message: expectation });
      return NEVER;
    }),
  );
}

function integer(min: number, max: number) {
  return parsed((value) => {
    const number = /^[0-9]{1,15}$/.test(value) ? Number(value) : Number.NaN;
    return number >= min && number <= max ? number : null;
  }, `expected a whole number from ${min} to ${max}`);
}

function duration(minMs: number, example: string) {
  return parsed((value) => {
    const ms = parseDurationMs(value);
    return ms !== null && ms >= minMs && ms <= 2 ** 31 - 1 ? ms : null;
  }, `expected a duration of at least ${minMs}ms and under 24 days, e.g. ${example}`);
}

const size = parsed((value) => {
  const bytes = parseSizeBytes(value);
  return bytes !== null && bytes >= 1 && bytes <= 64 * 1024 * 1024 ? bytes : null;
}, "expected a size from 1 byte to 64m, e.g. 1m");

/** `900s`; another form falls back to 900 seconds (mission, Limits) and is warned of, zero and more than 30 days are refused. */
const ttl = parsed((value) => {
  const seconds = parseTtlSeconds(value);
  if (seconds === null) return { seconds: DEFAULT_TTL_SECONDS, fellBack: true };
  return seconds > 0 && seconds <= MAX_TTL_SECONDS ? { seconds, fellBack: false } : null;
}, "expected a lifetime above zero and at most 30d, e.g. 900s");

const strongSecret = v.pipe(
  text,
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const weakness = weaknessOf(dataset.value);
    if (weakness) addIssue({ message: `${weakness}; make one with: openssl rand -base64 48` });
  }),
);

const passwordHash = v.pipe(
  text,
  v.rawTransform(({ dataset, addIssue, NEVER }): PasswordHash => {
    const result = parsePasswordHash(dataset.value);
    if (!("reason" in result)) return result;
    addIssue({ message: `${result.reason}; make a hash with: authserve hash-password` });
    return NEVER;
  }),
);

const email = v.pipe(text, v.check(isEmail, "expected an e-mail address, e.g. demo@example.com"));

const path = v.pipe(
  text,
  v.regex(
    /^\/[A-Za-z0-9._~-]+(?:\/[A-Za-z0-9._~-]+)*$/,
    "expected a path of letters, digits and . _ ~ -, e.g. /webhook",
  ),
  v.check((value) => !/\/\.{1,2}(?:\/|$)/.test(value), "expected a path without . and .. segments, e.g. /webhook"),
  v.check(
    (value) => !/^\/(?:auth|healthz|readyz|metrics)(?:\/|$)/.test(value),
    "expected a path that the service does not use itself, e.g. /webhook",
  ),
);

const url = parsed((value) => {
  if (!URL.canParse(value)) return null;
  const { protocol, username, password } = new URL(value);
  return /^https?:$/.test(protocol) && username + password === "" ? value : null;
}, "expected an http or https URL without user and password, e.g. http://127.0.0.1:8080/events");

/** Comma-separated addresses and CIDR ranges, as a list that answers `check(address, family)`. */
const networks = parsed((value) => {
  const list = new BlockList();
  for (const entry of value.split(",").map((part) => part.trim())) {
    const [address = "", prefix, ...rest] = entry.split("/");
    const family = isIP(address);
    const bits = prefix === undefined ? (family === 6 ? 128 : 32) : /^[0-9]{1,3}$/.test(prefix) ? Number(prefix) : -1;
    if (family === 0 || rest.length > 0 || bits < 0 || bits > (family === 6 ? 128 : 32)) return null;
    list.addSubnet(address, bits, family === 6 ? "ipv6" : "ipv4");
  }
  return list;
}, "expected a comma-separated list of addresses or ranges, e.g. 10.0.0.0/8,::1");

const fraction = parsed(
  (value) => (/^(?:0(?:\.[0-9]+)?|1(?:\.0+)?)$/.test(value) ? Number(value) : null),
  "expected a number from 0 to 1, e.g. 0.2",
);

/** One schema for the environment. Order is the order of the README's table. */
const SCHEMA = v.object({
  JWT_SECRET: strongSecret,
  JWT_SECRET_PREVIOUS: v.optional(strongSecret),
  JWT_TTL: v.optional(ttl, "900s"),
  DEMO_EMAIL: email,
  DEMO_PASSWORD: passwordHash,
  DEMO_USER_ID: v.optional(
    v.pipe(text, v.regex(/^[A-Za-z0-9._:@-]{1,128}$/, "expected 1 to 128 letters, digits and . _ : @ -, e.g. 1")),
    "1",
  ),
  REDIS_HOST: v.optional(text),
  REDIS_PORT: v.optional(integer(1, 65_535), "6379"),
  REDIS_PASSWORD: v.optional(text),
  PORT: v.optional(integer(0, 65_535), "3000"),
  HOST: v.optional(text),
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
  RETRY_DELAY: v.optional(duration(1, "1s")),
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

export type Environment = Record<string, string | undefined>;

/** The `.env` file of a folder below the process's environment, which wins. An empty value counts as not set. */
export function readEnvironment(folder: string, own: Environment = process.env): Environment {
  const file = `${folder}/.env`;
  let fromFile: Environment = {};
  if (existsSync(file)) {
    try {
      fromFile = parseEnv(readFileSync(file, "utf8"));
    } catch (error) {
      throw new OperatorError(
        `.env cannot be read (${(error as NodeJS.ErrnoException).code}): give its owner read access`,
      );
    }
  }
  const merged = { ...fromFile };
  for (const [name, value] of Object.entries(own)) if (value !== "") merged[name] = value;
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== "" && value !== undefined));
}

/**
 * Reads the named settings, all of them by default.
 * Throws one {@link OperatorError} that lists every bad setting with its remedy and never a value.
 */
export function readSettings<const Name extends SettingName = SettingName>(
  environment: Environment,
  names: readonly Name[] = SETTING_NAMES as Name[],
): Pick<Settings, Name> {
  const problems: string[] = [];
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
  if (
    names.includes("TLS_CERT_FILE" as Name) &&
    (values.TLS_CERT_FILE === undefined) !== (values.TLS_KEY_FILE === undefined)
  ) {
    problems.push("TLS_CERT_FILE and TLS_KEY_FILE belong together: set both or neither");
  }
  if (problems.length > 0) throw new OperatorError(["These settings are not usable:", ...problems].join("\n  "));
  return result.output as Pick<Settings, Name>;
}
