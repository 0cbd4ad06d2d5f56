import type { Settings } from "../../config/settings.ts";
import { describeError } from "../../errors.ts";
import type { Log } from "../../log.ts";
import type { SessionStore } from "./store.ts";

export type SessionSettings = Pick<Settings, "REDIS_HOST" | "REDIS_PORT" | "REDIS_PASSWORD">;

/** Opens the session store the settings name: Redis when `REDIS_HOST` is set, else the embedded one. */
export async function openSessionStore(
  settings: SessionSettings,
  embedded: SessionStore,
  log: Log,
): Promise<SessionStore> {
  const { REDIS_HOST: host, REDIS_PORT: port, REDIS_PASSWORD: password } = settings;
  if (host === undefined) return embedded;
  const { createRedisSessionStore } = await import("./redis.ts");
  return createRedisSessionStore({ host, port, ...(password === undefined ? {} : { password }) }, (error) =>
    log.warn({ event: "session_store_error", error: describeError(error) }, "Redis does not answer"),
  );
}
