import { accessSync, constants, readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import * as v from "valibot";
import { isWithin } from "../auth/browser/redirect-target.ts";
import { type Fault, SettingsError, systemCode } from "../errors.ts";
import { faultOfAuthorities, faultOfPair, unreadablePem } from "../lib/pem.ts";
import { isFault, parseDatabaseUrl } from "../postgres/address.ts";
import { readEncryptionKeys } from "./encryption-keys.ts";
import { domain as cookieDomain, files } from "./fields.ts";
import {
  DATABASE_CA_FILE,
  type Environment,
  readSettings,
  SETTING_NAMES,
  type SettingName,
  type Settings,
  usesRedis,
} from "./settings.ts";

/** Settings with the path of a file that the server reads. */
const FILE_NAMES = ["TLS_CERT_FILE", "TLS_KEY_FILE", "REDIS_TLS_CA_FILE"] as const satisfies SettingName[];

/**
 * Reads the settings that a server starts with. Rejects with the errors of {@link readSettings}, also for unusable
 * files and an unusable `DATA_DIR`.
 */
export async function readServerSettings(environment: Environment): Promise<Settings> {
  return readSettings(environment, SETTING_NAMES, [
    ...unreadableFiles(environment),
    ...unusableFiles(environment),
    ...dataDirFaults(environment),
    ...(await cookieDomainFaults(environment)),
    ...unusedRedisUrl(environment),
    ...encryptionKeyFaults(environment),
  ]);
}

/** Checks the files of `ENCRYPTION_KEYS`. */
function encryptionKeyFaults({ ENCRYPTION_KEYS: list }: Environment): Fault[] {
  const read = v.safeParse(files, list);
  if (!read.success) return [];
  try {
    readEncryptionKeys(read.output);
    return [];
  } catch (error) {
    if (error instanceof SettingsError) return [...error.faults];
    throw error;
  }
}

/** Checks that nobody expects `REDIS_URL`, which other programs read, to have an effect. */
function unusedRedisUrl(environment: Environment): Fault[] {
  if (environment.REDIS_URL === undefined || usesRedis(environment)) return [];
  const remedy =
    "set REDIS_HOST, and as needed REDIS_PORT, REDIS_USERNAME, REDIS_PASSWORD, REDIS_DB and REDIS_TLS; or remove it";
  return [{ found: "REDIS_URL is not a setting, so Redis would not be used", remedy }];
}

/** Checks that browsers keep the cookie of `COOKIE_DOMAIN`: they refuse public suffixes, and domains of other hosts. */
async function cookieDomainFaults({ COOKIE_DOMAIN, PUBLIC_URL }: Environment): Promise<Fault[]> {
  const { success, output: domain } = v.safeParse(cookieDomain, COOKIE_DOMAIN);
  if (!success) return [];
  if (PUBLIC_URL === undefined) return [{ found: "COOKIE_DOMAIN is set without PUBLIC_URL", remedy: "set PUBLIC_URL" }];
  const url = URL.parse(PUBLIC_URL);
  if (url === null) return [];
  if (url.protocol !== "https:")
    return [{ found: "COOKIE_DOMAIN needs HTTPS", remedy: "set PUBLIC_URL to an https origin" }];
  if (!isWithin(url.hostname, domain))
    return [{ found: "PUBLIC_URL is not in COOKIE_DOMAIN", remedy: "set COOKIE_DOMAIN to a domain above PUBLIC_URL" }];
  // The list of public suffixes takes more than a megabyte of memory.
  const { getPublicSuffix } = await import("./tldts.ts");
  if (getPublicSuffix(domain, { allowPrivateDomains: true }) !== domain) return [];
  const remedy = "set it to a domain that is yours, e.g. example.com";
  return [{ found: "COOKIE_DOMAIN is a public suffix, for which browsers keep no cookie", remedy }];
}

/** Checks `DATA_DIR` without creating it. */
function dataDirFaults({ DATA_DIR }: Environment): Fault[] {
  if (DATA_DIR === undefined) return [];
  try {
    const dir = resolve(DATA_DIR);
    let found = dir;
    while (!statSync(found, { throwIfNoEntry: false })) found = dirname(found);
    if (statSync(found).isDirectory()) return [];
    if (found !== dir)
      return [{ found: "DATA_DIR cannot be created (ENOTDIR)", remedy: "name a directory that this user can write" }];
  } catch {
    // The error is reported when the directory is opened.
    return [];
  }
  return [{ found: "DATA_DIR is no directory", remedy: "name a directory, or a path that does not exist yet" }];
}

/**
 * The authority's file in `DATABASE_URL`. That of `DATABASE_URL_FILE`, which may be a pipe, is checked when it is used.
 */
function databaseCaFile({ DATABASE_URL }: Environment): string | undefined {
  const address = DATABASE_URL === undefined ? undefined : parseDatabaseUrl(DATABASE_URL);
  return address === undefined || isFault(address) ? undefined : address.caFile;
}

/** Checks without reading, because a pipe can be read only once. */
function unreadableFiles(environment: Environment): Fault[] {
  return [
    ...FILE_NAMES.flatMap((name) => unreadableFile(name, environment[name])),
    ...unreadableFile(DATABASE_CA_FILE, databaseCaFile(environment)),
  ];
}

function unreadableFile(name: string, file: string | undefined): Fault[] {
  if (file === undefined) return [];
  try {
    accessSync(file, constants.R_OK);
    return statSync(file).isDirectory() ? [unreadablePem(name, "EISDIR")] : [];
  } catch (error) {
    return [unreadablePem(name, systemCode(error))];
  }
}

/** Checks the content of regular files. It is read again when it is used, because certificates are renewed. */
function unusableFiles(environment: Environment): Fault[] {
  const [cert, key, redisAuthorities] = FILE_NAMES.map((name) => contentOfRegularFile(environment[name]));
  const databaseAuthorities = contentOfRegularFile(databaseCaFile(environment));
  const faults = [
    cert && key && faultOfPair({ cert, key }),
    redisAuthorities && faultOfAuthorities("REDIS_TLS_CA_FILE", redisAuthorities),
    databaseAuthorities && faultOfAuthorities(DATABASE_CA_FILE, databaseAuthorities),
  ];
  return faults.filter((fault) => fault !== undefined);
}

function contentOfRegularFile(file: string | undefined): Buffer | undefined {
  try {
    return file !== undefined && statSync(file).isFile() ? readFileSync(file) : undefined;
  } catch {
    return undefined;
  }
}
