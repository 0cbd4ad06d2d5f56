import { type Fault, faultText } from "../errors.ts";
import { hostOf, isLoopback } from "../http/listen.ts";
import type { DatabaseAddress } from "../postgres/address.ts";
import { bytesOfWhsec } from "../webhook/signature/secret.ts";
import { DEFAULT_TTL_SECONDS } from "./fields.ts";
import { weaknessesOfWebhookSecret } from "./secrets.ts";
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
    ...browserFaults(settings).map(faultText),
  ];
}

function tokenWarnings({ JWT_TTL }: Settings): string[] {
  if (!JWT_TTL.fellBack) return [];
  return [`JWT_TTL is not a whole number and one of s, m, h, d: the lifetime is ${DEFAULT_TTL_SECONDS} seconds`];
}

// OWASP's Password Storage Cheat Sheet: the minimum memory of argon2id for 1 to 5 passes, and the minimum cost of
// bcrypt.
const MIN_MEMORY_KIB = [47_104, 19_456, 12_288, 9_216, 7_168];
const LEAST_BCRYPT_COST = 10;

function passwordWarnings({ DEMO_PASSWORD: hash }: Settings): string[] {
  if (hash.algorithm === "bcrypt") {
    if (hash.cost >= LEAST_BCRYPT_COST) return [];
    return [`DEMO_PASSWORD is a bcrypt hash with cost ${hash.cost}, below ${LEAST_BCRYPT_COST}: ${MAKE_HASH}`];
  }
  const least = MIN_MEMORY_KIB[Math.min(hash.passes, MIN_MEMORY_KIB.length) - 1] ?? 0;
  if (hash.memoryKib >= least) return [];
  return [
    `DEMO_PASSWORD is an argon2id hash with m=${hash.memoryKib}, below ${least} for t=${hash.passes}: ${MAKE_HASH}`,
  ];
}

const MAKE_HASH = "make a stronger one with authserve hash-password";

function webhookWarnings({ WEBHOOK_SECRET: secret }: Settings): string[] {
  if (secret === undefined) return ["WEBHOOK_SECRET is not set: there is no webhook route"];
  const warnings = weaknessesOfWebhookSecret(secret).map((weakness) => `WEBHOOK_SECRET ${weakness}`);
  if (bytesOfWhsec(secret) === 0) {
    warnings.push(
      "WEBHOOK_SECRET is not base64 after whsec_ and verifies no webhook-signature: copy it from the sender again",
    );
  }
  return warnings;
}

function forwardWarnings({ FORWARD_URL, FORWARD_SECRET: secret }: Settings): string[] {
  if (secret === undefined) return [];
  const warnings = weaknessesOfWebhookSecret(secret).map((weakness) => `FORWARD_SECRET ${weakness}`);
  if (FORWARD_URL === undefined) warnings.push("FORWARD_SECRET has no effect without FORWARD_URL: set both or neither");
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

/** What the settings of browsers probably do not intend. */
export function browserFaults(settings: Settings): Fault[] {
  const faults: Fault[] = [];
  const { PUBLIC_URL, JWT_TTL, SESSION_MAX_AGE } = settings;
  const isPrivate = isLoopback(hostOf(settings) ?? "");
  if (PUBLIC_URL === undefined && !isPrivate)
    faults.push({
      found: "PUBLIC_URL is not set: there is no login page, no cookie and no /auth/verify",
      remedy: "set it to the address under which browsers reach this server, or use the API alone",
    });
  if (PUBLIC_URL?.startsWith("http:") && !isLoopback(new URL(PUBLIC_URL).hostname))
    faults.push({
      found:
        "PUBLIC_URL is plain HTTP: others on the network can read passwords and cookies, and there are no passkeys",
      remedy: "put a proxy with TLS in front, and set PUBLIC_URL to its https address",
    });
  if ((PUBLIC_URL !== undefined || isPrivate) && JWT_TTL.seconds * 1000 > SESSION_MAX_AGE)
    faults.push({
      found: "JWT_TTL is longer than SESSION_MAX_AGE: a login on the page lasts for SESSION_MAX_AGE",
      remedy: "make SESSION_MAX_AGE at least as long as JWT_TTL",
    });
  return faults;
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
