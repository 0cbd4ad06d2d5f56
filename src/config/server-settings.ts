import { accessSync, constants, readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import * as v from "valibot";
import { isWithin } from "../auth/browser/redirect-target.ts";
import { type Fault, SettingsError, systemCode } from "../errors.ts";
import { faultOfAuthorities, faultOfPair, unreadablePem } from "../lib/pem.ts";
import { isFault, parseDatabaseUrl } from "../postgres/address.ts";
import { readEncryptionKeys } from "./encryption-keys.ts";
import { domain as domainName, files, origins } from "./fields.ts";
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
    ...(await passkeyFaults(environment)),
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
  const { success, output: domain } = v.safeParse(domainName, COOKIE_DOMAIN);
  if (!success) return [];
  if (PUBLIC_URL === undefined) return [{ found: "COOKIE_DOMAIN is set without PUBLIC_URL", remedy: "set PUBLIC_URL" }];
  const url = URL.parse(PUBLIC_URL);
  if (url === null) return [];
  if (url.protocol !== "https:")
    return [{ found: "COOKIE_DOMAIN needs HTTPS", remedy: "set PUBLIC_URL to an https origin" }];
  if (!isWithin(url.hostname, domain))
    return [{ found: "PUBLIC_URL is not in COOKIE_DOMAIN", remedy: "set COOKIE_DOMAIN to a domain above PUBLIC_URL" }];
  if (!(await isPublicSuffix(domain))) return [];
  return [{ found: "COOKIE_DOMAIN is a public suffix, for which browsers keep no cookie", remedy: OWN_DOMAIN }];
}

const OWN_DOMAIN = "set it to a domain that is yours, e.g. example.com";

async function isPublicSuffix(domain: string): Promise<boolean> {
  // The list of public suffixes takes more than a megabyte of memory.
  const { getPublicSuffix } = await import("./tldts.ts");
  return getPublicSuffix(domain, { allowPrivateDomains: true }) === domain;
}

/** How many names in front of a public suffix browsers take from `/.well-known/webauthn` (WebAuthn level 3, 5.11). */
const MAX_ORIGIN_LABELS = 5;

/** Checks that browsers take `PASSKEY_RP_ID` and `PASSKEY_ORIGINS`. */
async function passkeyFaults({ PASSKEY_RP_ID, PASSKEY_ORIGINS, PUBLIC_URL }: Environment): Promise<Fault[]> {
  const { success: hasRpId, output: rpId } = v.safeParse(domainName, PASSKEY_RP_ID);
  const { success: hasOrigins, output: others } = v.safeParse(origins, PASSKEY_ORIGINS);
  const names = [...(hasRpId ? ["PASSKEY_RP_ID"] : []), ...(hasOrigins ? ["PASSKEY_ORIGINS"] : [])];
  if (names.length === 0) return [];
  if (PUBLIC_URL === undefined)
    return names.map((name) => ({ found: `${name} is set without PUBLIC_URL`, remedy: "set PUBLIC_URL" }));
  if (hasRpId && (await isPublicSuffix(rpId)))
    return [{ found: "PASSKEY_RP_ID is a public suffix, for which browsers make no passkey", remedy: OWN_DOMAIN }];
  const { getDomainWithoutSuffix } = await import("./tldts.ts");
  const labelOf = (url: string) => getDomainWithoutSuffix(url, { allowPrivateDomains: true });
  const labels = new Set([PUBLIC_URL, ...(hasOrigins ? others : [])].map(labelOf));
  if (labels.size <= MAX_ORIGIN_LABELS) return [];
  const found = `PASSKEY_ORIGINS and PUBLIC_URL have ${labels.size} names in front of a public suffix, and browsers take ${MAX_ORIGIN_LABELS}`;
  return [{ found, remedy: "remove origins" }];
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
