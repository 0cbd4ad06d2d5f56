import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Environment } from "../../../src/config/settings.ts";
import { ROUTE_NAMES, type RouteName } from "./verdict.ts";

/** What a server process needs of the environment: to be found, to cache its code, and to unpack its add-ons. */
const PASSED_ON = [
  "PATH",
  "HOME",
  "TMPDIR",
  "LD_LIBRARY_PATH",
  "NODE_COMPILE_CACHE",
  "CACHE_DIRECTORY",
  "XDG_CACHE_HOME",
];

export const EMAIL = "selftest@example.com";

/** Where a login to the app leads. Nobody listens there. */
export const REDIRECT_URI = "http://127.0.0.1:9/callback";

/** What every server of a test is started with. */
export interface ServerOptions {
  /** The working directory. The configuration and the data are below it. */
  folder: string;
  /** The operator's settings, for `ADDON_DIR`. */
  environment: Environment;
  /** An empty PostgreSQL database, instead of SQLite. */
  databaseUrl: string | undefined;
  webhookSecret: string;
  passwordHash: string;
  appSecret: string;
}

/** What a server sends to: the URL of each route, and the back-channel address of the app. */
export interface TargetUrls {
  route(name: RouteName): string;
  logout: string;
}

/** The settings of the stores of the test. */
export function storeSettings({ folder, databaseUrl }: Pick<ServerOptions, "folder" | "databaseUrl">) {
  return {
    DATA_DIR: join(folder, "data"),
    ENCRYPTION_KEYS: join(folder, "encryption.key"),
    ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
  };
}

/** Makes the key with which the servers of the test encrypt payloads. */
export function makeEncryptionKey(folder: string): void {
  const { ENCRYPTION_KEYS } = storeSettings({ folder, databaseUrl: undefined });
  writeFileSync(ENCRYPTION_KEYS, randomBytes(32).toString("base64"), { mode: 0o600 });
}

/** The configuration file. JSON is YAML. Each kill may use up an attempt of a job, so there are many. */
export function configurationOf({ route, logout }: TargetUrls): string {
  const retry = { attempts: 100, delay: "10ms", maxDelay: "50ms" };
  const routes = ROUTE_NAMES.map((name) => ({
    name,
    to: route(name),
    retry,
    ...(name === "ordered" ? { orderBy: "sender" } : {}),
  }));
  const app = {
    redirects: [REDIRECT_URI],
    secret: "env:APP_SECRET",
    consent: "never",
    logout: { backchannel: logout },
  };
  return `${JSON.stringify({ routes, clients: { app } }, null, 2)}\n`;
}

/** The environment of a server. Of the operator's settings it has only `ADDON_DIR`. */
export function environmentOf(options: ServerOptions, configFile: string): NodeJS.ProcessEnv {
  const { environment, webhookSecret, passwordHash, appSecret } = options;
  const passed = Object.fromEntries(PASSED_ON.map((name) => [name, process.env[name]]));
  const { ADDON_DIR } = environment;
  return {
    ...passed,
    ...(ADDON_DIR === undefined ? {} : { ADDON_DIR: resolve(ADDON_DIR) }),
    HOST: "127.0.0.1",
    PORT: "0",
    ...storeSettings(options),
    CONFIG_FILE: configFile,
    JWT_SECRET: randomBytes(48).toString("base64"),
    DEMO_EMAIL: EMAIL,
    DEMO_PASSWORD: passwordHash,
    WEBHOOK_SECRET: webhookSecret,
    APP_SECRET: appSecret,
    // A time-out of a stalled machine would look like an event that is processed twice.
    HANDLER_TIMEOUT: "10m",
  };
}
