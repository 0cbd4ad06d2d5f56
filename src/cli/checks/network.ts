import { existsSync } from "node:fs";
import { join } from "node:path";
import type { RedisSettings, Settings } from "../../config/settings.ts";
import { AppError, describeError, OperatorError, SettingsError } from "../../errors.ts";
import { findPort, hostOf } from "../../http/listen.ts";
import { createTlsFiles } from "../../http/tls.ts";
import { createLog } from "../../log.ts";
import type { RedisConnection } from "../../redis/connection.ts";
import { AlreadyServedError, LOCK_FILE, lockDataDir } from "../../sqlite/data-dir.ts";
import { openRedis } from "../../stores.ts";
import { ask } from "../ask.ts";
import { type AddressSettings, serverUrl } from "../server-address.ts";
import { type Finding, ok, wrong, wrongBy } from "./finding.ts";

// A server that is well answers within milliseconds.
const ANSWER_MS = 2000;

type TlsSettings = Pick<Settings, "TLS_CERT_FILE" | "TLS_KEY_FILE">;
type LoginSettings = RedisSettings & Pick<Settings, "DEMO_USER_ID">;

export async function checkRedis(settings: LoginSettings): Promise<Finding[]> {
  let redis: RedisConnection | null;
  try {
    redis = await openRedis(settings, createLog("silent"));
  } catch (error) {
    return wrongBy("Redis", error);
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
      ? "set REDIS_TLS_CA_FILE to the certificates of its authority, and call it as its own certificate does"
      : "start it, or check where the settings say it is, its passwords, and the rights of REDIS_USERNAME";
    return wrong("Redis", `${where} does not answer (${reason})`, remedy);
  }
  try {
    const { createRedisSessionStore } = await import("../../redis/sessions.ts");
    await createRedisSessionStore(redis).check(settings.DEMO_USER_ID);
    return ok("Redis", `${where} keeps sessions`);
  } catch (error) {
    const remedy = "give REDIS_USERNAME the rights that the README lists, under REDIS_KEY_PREFIX, and Redis memory";
    return wrong("Redis", `${where} answers and keeps no session (${reasonOf(error)})`, remedy);
  }
}

/** Why the store is not available, without saying once more that it is not. */
function reasonOf(error: unknown): string {
  return describeError(error instanceof AppError ? error.cause : error);
}

function placeOf({ REDIS_HOST: host, REDIS_PORT: port, REDIS_SENTINELS, REDIS_CLUSTER }: RedisSettings): string {
  const addresses = REDIS_CLUSTER ?? REDIS_SENTINELS ?? [{ host, port }];
  return addresses.map((address) => `${address.host}:${address.port}`).join(", ");
}

/** The certificate and its key, when there are any. */
export function checkTls({ TLS_CERT_FILE: cert, TLS_KEY_FILE: key }: TlsSettings): Finding[] {
  if (cert === undefined || key === undefined) return [];
  try {
    createTlsFiles(cert, key).read();
    return [ok("TLS", "certificate and key belong together")];
  } catch (error) {
    return wrongBy("TLS", error);
  }
}

/** The port is free, or it is our own server that listens there and is ready. */
export async function checkPort(settings: AddressSettings & Pick<Settings, "DATA_DIR">): Promise<Finding[]> {
  const { PORT: port, DATA_DIR: dataDir } = settings;
  try {
    if (isServed(dataDir)) return [await checkServer(settings)];
  } catch (error) {
    return wrongBy("lock", error);
  }
  if (port === 0) return [ok("port", "PORT is 0: the start picks one")];
  try {
    await findPort({ port, host: hostOf(settings) });
    return [ok("port", `${port} is free`)];
  } catch (error) {
    return wrongBy("port", error);
  }
}

/** Whether the server that runs on this DATA_DIR says that it is ready. */
async function checkServer(settings: AddressSettings): Promise<Finding> {
  const { PORT: port } = settings;
  if (port === 0) return ok("port", "a server runs on this DATA_DIR (PORT 0)");
  const url = `${serverUrl(settings)}/readyz`;
  try {
    const { status } = await ask({ url, isOurs: true, timeoutMs: ANSWER_MS });
    if (status === 200) return ok("port", `a server runs on this DATA_DIR (PORT ${port}) and is ready`);
    return wrong(
      "port",
      `${url} says ${status}`,
      "see not_ready in the server's log: it names the part and the reason",
    );
  } catch (error) {
    const found = `a server runs on this DATA_DIR and ${url} does not answer (${describeError(error)})`;
    return wrong("port", found, "see its log, and start it again; or set PORT and HOST to where it listens");
  }
}

function isServed(dataDir: string): boolean {
  if (!existsSync(join(dataDir, LOCK_FILE))) return false;
  try {
    lockDataDir(dataDir)();
    return false;
  } catch (error) {
    if (error instanceof AlreadyServedError) return true;
    // What is wrong with the directory is another check's.
    if (error instanceof OperatorError && !(error instanceof SettingsError)) return false;
    throw error;
  }
}
