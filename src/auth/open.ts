import { hash } from "node:crypto";
import type { Settings } from "../config/settings.ts";
import type { Log } from "../log.ts";
import type { RedisConnection } from "../redis/connection.ts";
import { openRedis } from "../redis/open.ts";
import { afterStep } from "./sessions/after.ts";
import type { SessionStore } from "./sessions/store.ts";
import type { ThrottleStore } from "./throttle-store.ts";

/** Where login keeps its state: the active sessions, and the failures that the throttle counts. */
export interface AuthStores {
  sessions: SessionStore;
  throttle: ThrottleStore;
}

/**
 * Opens the stores as a server uses them: on a Redis connection of their own when the settings name one. The process that
 * takes logins says which `server` it is, see {@link createRedisThrottleStore}.
 */
export async function openServerAuth(
  settings: Settings,
  embedded: AuthStores,
  log: Log,
  server?: string,
): Promise<AuthStores & { close(): void }> {
  const redis = await openRedis(settings, log);
  const { sessions, throttle } = await openAuthStores(redis, embedded, server);
  return {
    sessions: boundSessions(sessions, settings, log),
    throttle,
    close: () => redis?.close(),
  };
}

/** Opens the stores of sessions and throttle: on Redis when there is a connection, else the embedded ones. */
export async function openAuthStores(
  redis: RedisConnection | null,
  embedded: AuthStores,
  server?: string,
): Promise<AuthStores> {
  if (redis === null) return embedded;
  const { createRedisSessionStore } = await import("./sessions/redis.ts");
  const { createRedisThrottleStore } = await import("./throttle-redis.ts");
  return { sessions: createRedisSessionStore(redis), throttle: createRedisThrottleStore(redis, server) };
}

/**
 * The sessions that a password and an e-mail open. Another password or e-mail ends what the old one opened, also when it
 * was changed while no server ran, and before anything else is asked of the store.
 */
function boundSessions(
  sessions: SessionStore,
  { DEMO_USER_ID: userId, DEMO_EMAIL: email, DEMO_PASSWORD: { encoded } }: Settings,
  log: Log,
): SessionStore {
  const fingerprint = hash("sha256", `${encoded} ${email}`);
  return afterStep(async () => {
    if (!(await sessions.bind(userId, fingerprint))) return;
    const line = { event: "session_revoked" as const, userId, reason: "credentials_changed" };
    log.info(line, "the password or the e-mail was changed: its session ended");
  }, sessions);
}
