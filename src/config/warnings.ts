import { isLoopback } from "../http/listen.ts";
import type { DatabaseAddress } from "../postgres/address.ts";
import { bytesOfWhsec } from "../webhook/secret-key.ts";
import { DEFAULT_TTL_SECONDS } from "./fields.ts";
import { REDIS_LOCATION_NAMES, REDIS_SETTING_NAMES, readSettings, type Settings, usesRedis } from "./settings.ts";

/** Returns warnings about settings that are valid but probably not intended. */
export function settingWarnings(settings: Settings): string[] {
  return [
    ...tokenWarnings(settings),
    ...passwordWarnings(settings),
    ...webhookWarnings(settings),
    ...forwardWarnings(settings),
    ...redisWarnings(settings),
    ...databaseWarnings(settings),
    ...networkWarnings(settings),
  ];
}

function tokenWarnings({ JWT_TTL }: Settings): string[] {
  if (!JWT_TTL.fellBack) return [];
  return [`JWT_TTL is not a whole number and one of s, m, h, d: the lifetime is ${DEFAULT_TTL_SECONDS} seconds`];
}

// OWASP's Password Storage Cheat Sheet: the minimum memory of argon2id for 1 to 5 passes, and the minimum cost of bcrypt.
const LEAST_MEMORY_KIB = [47_104, 19_456, 12_288, 9_216, 7_168];
const LEAST_BCRYPT_COST = 10;

function passwordWarnings({ DEMO_PASSWORD: hash }: Settings): string[] {
  if (hash.algorithm === "bcrypt") {
    if (hash.cost >= LEAST_BCRYPT_COST) return [];
    return [`DEMO_PASSWORD is a bcrypt hash with cost ${hash.cost}, below ${LEAST_BCRYPT_COST}: ${MAKE_HASH}`];
  }
  const least = LEAST_MEMORY_KIB[Math.min(hash.passes, LEAST_MEMORY_KIB.length) - 1] ?? 0;
  if (hash.memoryKib >= least) return [];
  return [
    `DEMO_PASSWORD is an argon2id hash with m=${hash.memoryKib}, below ${least} for t=${hash.passes}: ${MAKE_HASH}`,
  ];
}

const MAKE_HASH = "make a stronger one with authserve hash-password";

// Standard Webhooks: 24 to 64 bytes.
export const LEAST_WHSEC_BYTES = 24;

function webhookWarnings({ WEBHOOK_SECRET: secret }: Settings): string[] {
  if (secret === undefined) return ["WEBHOOK_SECRET is not set: there is no webhook route"];
  const warnings: string[] = [];
  if (secret.length < 16) warnings.push("WEBHOOK_SECRET is shorter than 16 characters: use a random one");
  if (/^\s|\s$/.test(secret)) {
    warnings.push("WEBHOOK_SECRET begins or ends with white space: remove it, unless the sender's secret has it, too");
  }
  const whsecBytes = bytesOfWhsec(secret);
  if (whsecBytes === 0) {
    warnings.push(
      "WEBHOOK_SECRET is not base64 after whsec_ and verifies no webhook-signature: copy it from the sender again",
    );
  } else if (whsecBytes !== null && whsecBytes < LEAST_WHSEC_BYTES) {
    warnings.push(
      `WEBHOOK_SECRET has ${whsecBytes} bytes after whsec_, fewer than ${LEAST_WHSEC_BYTES}: use a random one`,
    );
  }
  return warnings;
}

function forwardWarnings({ FORWARD_URL, FORWARD_SECRET: secret }: Settings): string[] {
  if (secret === undefined) return [];
  const warnings: string[] = [];
  if (FORWARD_URL === undefined) warnings.push("FORWARD_SECRET has no effect without FORWARD_URL: set both or neither");
  if (secret.length < 16) warnings.push("FORWARD_SECRET is shorter than 16 characters: use a random one");
  const bytes = bytesOfWhsec(secret);
  if (bytes !== null && bytes < LEAST_WHSEC_BYTES) {
    warnings.push(`FORWARD_SECRET has ${bytes} bytes after whsec_, fewer than ${LEAST_WHSEC_BYTES}: use a random one`);
  }
  return warnings;
}

function redisWarnings(settings: Settings): string[] {
  if (usesRedis(settings)) return [];
  const defaults = readSettings({}, REDIS_SETTING_NAMES);
  const unused = REDIS_SETTING_NAMES.filter((name) => settings[name] !== defaults[name]);
  if (unused.length === 0) return [];
  return [
    `Redis is not used, so these settings have no effect: ${unused.join(", ")}. Set one of ${REDIS_LOCATION_NAMES.join(", ")}, or sessions stay in the database`,
  ];
}

function databaseWarnings({ DATABASE_URL: address }: Settings): string[] {
  if (address === undefined || address.tls !== "off" || isLocalDatabase(address)) return [];
  return ["DATABASE_URL reaches another machine without TLS: add ?sslmode=verify-full, or payloads travel in clear"];
}

/** Whether all hosts of a database are this machine. */
export function isLocalDatabase({ hosts }: Pick<DatabaseAddress, "hosts">): boolean {
  return hosts.every(({ host }) => host.startsWith("/") || isLoopback(host));
}

function networkWarnings({ HOST, TLS_CERT_FILE, TRUSTED_PROXIES }: Settings): string[] {
  const isPrivate = HOST === undefined || isLoopback(HOST);
  if (TLS_CERT_FILE !== undefined || isPrivate || TRUSTED_PROXIES !== undefined) return [];
  return [
    "HOST is reachable without TLS: set TLS_CERT_FILE and TLS_KEY_FILE, or TRUSTED_PROXIES for a proxy that does TLS",
  ];
}
