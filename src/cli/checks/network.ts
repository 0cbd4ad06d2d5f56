import { existsSync } from "node:fs";
import { join } from "node:path";
import type { RedisSettings, Settings } from "../../config/settings.ts";
import { AppError, describeError, OperatorError, SettingsError } from "../../errors.ts";
import { findPort, hostOf } from "../../http/listen.ts";
import { faultOfUnnamedProxy } from "../../http/proxies.ts";
import { createTlsFiles } from "../../http/tls.ts";
import { createLog } from "../../log.ts";
import type { RedisConnection } from "../../redis/connection.ts";
import { AlreadyServedError, isLockHeld, LOCK_FILE, lockDataDir } from "../../sqlite/data-dir.ts";
import { openRedis } from "../../stores.ts";
import { type ProbedServer, probeServer } from "../running-server.ts";
import { type Finding, ok, warning, wrong, wrongSettings } from "./finding.ts";

// A healthy server answers within milliseconds.
const ANSWER_MS = 2000;

type TlsSettings = Pick<Settings, "TLS_CERT_FILE" | "TLS_KEY_FILE">;
type LoginSettings = RedisSettings & Pick<Settings, "DEMO_USER_ID">;

export async function checkRedis(settings: LoginSettings): Promise<Finding[]> {
  let redis: RedisConnection | null;
  try {
    redis = await openRedis(settings, createLog("silent"));
  } catch (error) {
    return wrongSettings("Redis", error);
  }
  if (redis === null) return [ok("Redis", "not configured: sessions are in the database")];
  try {
    return [await tryRedis(redis, settings)];
  } finally {
    redis.close();
  }
}

async function tryRedis(redis: RedisConnection, settings: LoginSettings): Promise<Finding> {
  const where = placeOf(settings);
  try {
    await redis.ask((client) => client.ping());
  } catch (error) {
    const reason = reasonOf(error);
    const remedy = /certificate|_CERT|ALTNAME/i.test(reason)
      ? "set REDIS_TLS_CA_FILE to its CA, and REDIS_HOST to the name in its certificate"
      : "start it, or check its address, its password and the permissions of REDIS_USERNAME";
    return wrong("Redis", `${where} does not answer (${reason})`, remedy);
  }
  try {
    const { createRedisSessionStore, NO_NOTES } = await import("../../redis/sessions.ts");
    await createRedisSessionStore(redis, NO_NOTES).check(settings.DEMO_USER_ID);
    return ok("Redis", `${where} stores sessions`);
  } catch (error) {
    const remedy = "give REDIS_USERNAME the permissions in docs/operate.md, and Redis enough memory";
    return wrong("Redis", `${where} answers but stores no session (${reasonOf(error)})`, remedy);
  }
}

/** The cause of an error, without "store unavailable" in front of it. */
function reasonOf(error: unknown): string {
  return describeError(error instanceof AppError ? error.cause : error);
}

function placeOf({ REDIS_HOST: host, REDIS_PORT: port, REDIS_SENTINELS, REDIS_CLUSTER }: RedisSettings): string {
  const addresses = REDIS_CLUSTER ?? REDIS_SENTINELS ?? [{ host, port }];
  return addresses.map((address) => `${address.host}:${address.port}`).join(", ");
}

/** Checks that the certificate and its key belong together, if TLS is set. */
export function checkTls({ TLS_CERT_FILE: cert, TLS_KEY_FILE: key }: TlsSettings): Finding[] {
  if (cert === undefined || key === undefined) return [];
  try {
    createTlsFiles(cert, key).read();
    return [ok("TLS", "the key belongs to the certificate")];
  } catch (error) {
    return wrongSettings("TLS", error);
  }
}

type BindingSettings = Pick<Settings, "PUBLIC_URL" | "COOKIE_DOMAIN" | "DEVICE_BOUND">;

/** Asks `COOKIE_DOMAIN` what browsers ask it before they bind a session to their device. */
export async function checkBinding(
  { PUBLIC_URL, COOKIE_DOMAIN: domain, DEVICE_BOUND }: BindingSettings,
  get: (url: string, init: RequestInit) => Promise<Response> = fetch,
): Promise<Finding[]> {
  const url = URL.parse(PUBLIC_URL ?? "");
  if (url?.protocol !== "https:" || domain === undefined || domain === url.hostname || DEVICE_BOUND === 0) return [];
  const { getDomain } = await import("../../config/tldts.ts");
  const registered = getDomain(domain, { allowPrivateDomains: true });
  const off = "or set DEVICE_BOUND=off";
  if (registered !== domain) {
    const found = `browsers bind sessions to their device only for all of ${registered}, and COOKIE_DOMAIN is ${domain}`;
    return [warning("devices", found, `set COOKIE_DOMAIN to ${registered} if all of it is yours, ${off}`)];
  }
  const { origin } = url;
  url.hostname = domain;
  const asked = `${url.origin}/.well-known/device-bound-sessions`;
  const fault = await get(asked, { redirect: "error", signal: AbortSignal.timeout(ANSWER_MS) }).then(
    async (response) => {
      if (response.status !== 200) return `says ${response.status}`;
      const { registering_origins: origins } = ((await response.json().catch(() => null)) ?? {}) as {
        registering_origins?: unknown;
      };
      const isNamed = Array.isArray(origins) && origins.includes(origin);
      return isNamed ? null : "does not name the origin of PUBLIC_URL";
    },
    (error: unknown) => `does not answer (${describeError(error)})`,
  );
  if (fault === null) return [ok("devices", `${domain} lets browsers bind sessions to their device`)];
  const remedy = `let the proxy of ${domain} lead this path to authserve, as deploy/nginx.conf says, ${off}`;
  return [warning("devices", `browsers bind no session to their device, because ${asked} ${fault}`, remedy)];
}

type AddressSettings = Pick<Settings, "DATA_DIR" | "DATABASE_URL" | "PORT" | "HOST" | "TLS_CERT_FILE">;

/** Checks that the server of this DATA_DIR is ready or, if none runs, that its port is free. */
export async function checkServer(settings: AddressSettings): Promise<Finding[]> {
  const { PORT: port, DATA_DIR: dataDir } = settings;
  try {
    if (await isServerRunning(settings)) return await checkRunning(dataDir);
  } catch (error) {
    return wrongSettings("lock", error);
  }
  if (port === 0) return [ok("port", "PORT is 0: the start picks a free port")];
  try {
    await findPort({ port, host: hostOf(settings) });
    return [ok("port", `${port} is free`)];
  } catch (error) {
    return wrongSettings("port", error);
  }
}

async function checkRunning(dataDir: string): Promise<Finding[]> {
  let server: ProbedServer;
  try {
    server = await probeServer(dataDir, ANSWER_MS);
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    const { found, remedy } = error.fault ?? { found: error.message, remedy: "see its log, and start it again" };
    return [wrong("server", `a server runs on this DATA_DIR, but ${found}`, remedy)];
  }
  const { status, url, unnamedProxy, questionFault, configFault } = server;
  if (status !== 200) {
    const remedy = "see not_ready in the server's log for the part and the reason";
    return [wrong("server", `${url}/readyz says ${status}`, remedy)];
  }
  const findings = [ok("server", `runs at ${url} and is ready`)];
  if (configFault !== null) {
    const found = `the running server uses the configuration before the newest change (${configFault})`;
    findings.push(wrong("sources", found, "correct the file; the server then takes it up by itself"));
  }
  const faults = [unnamedProxy === null ? null : faultOfUnnamedProxy(unnamedProxy), questionFault];
  return [
    ...findings,
    ...faults.flatMap((fault) => (fault === null ? [] : [warning("proxy", fault.found, fault.remedy)])),
  ];
}

/** With SQLite a server holds a lock. With PostgreSQL it is asked. */
async function isServerRunning({ DATA_DIR: dataDir, DATABASE_URL }: AddressSettings): Promise<boolean> {
  if (DATABASE_URL !== undefined) return isWell(probeServer(dataDir, ANSWER_MS));
  if (!existsSync(join(dataDir, LOCK_FILE))) return false;
  // On a read-only disk it cannot be locked.
  if (isLockHeld(dataDir)) return true;
  try {
    lockDataDir(dataDir)();
    return false;
  } catch (error) {
    if (error instanceof AlreadyServedError) return true;
    // Problems of the directory are reported by another check.
    if (error instanceof OperatorError && !(error instanceof SettingsError)) return false;
    throw error;
  }
}

const isWell = (operation: Promise<unknown>): Promise<boolean> =>
  operation.then(
    () => true,
    () => false,
  );
