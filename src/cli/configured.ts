import { hostname } from "node:os";
import { createNotify } from "../alerts/notifiers.ts";
import { type NotifierTest, testNotifiers } from "../alerts/test-notifiers.ts";
import type { Client } from "../auth/clients/client.ts";
import { readEnvironment } from "../config/env-file.ts";
import { handlerEnvironment, readConfigFile, readRetentionOf } from "../config/file/config-file.ts";
import { ROUTE_SETTING_NAMES, routesOf, shadowsOf } from "../config/routes.ts";
import { type Environment, readSettings } from "../config/settings.ts";
import { readSources } from "../config/sources.ts";
import type { Retention } from "../events/retention.ts";
import { pageUrlOf } from "../http/listen.ts";
import type { Source } from "../webhook/source.ts";
import type { Route } from "../worker/route.ts";
import type { ShadowRoute } from "../worker/shadow/shadows.ts";

// What is configured on this machine. Each function throws `SettingsError` if the configuration is not usable.

export function readRoutes(environment: Environment): Route[] {
  return routesOf(readSettings(environment, ROUTE_SETTING_NAMES), readConfigFile(environment));
}

/** The routes of a configuration file; of the present one if it is undefined. */
export function readRoutesOf(config: string | undefined): Route[] {
  return readRoutes(environmentWith(config));
}

/** The sources of a configuration file; of the present one if it is undefined. */
export function readSourcesOf(config: string | undefined): Source[] {
  return readSources(environmentWith(config));
}

function environmentWith(config: string | undefined): Environment {
  const environment = readEnvironment();
  if (config === undefined) return environment;
  // With routes in the present file it cannot be set, and without them the other file would be refused.
  const { FORWARD_URL: _, ...others } = environment;
  return { ...others, CONFIG_FILE: config };
}

/** The shadows of the present configuration file. */
export function readShadows(): ShadowRoute[] {
  const environment = readEnvironment();
  return shadowsOf(readSettings(environment, ROUTE_SETTING_NAMES), readConfigFile(environment));
}

/** The apps of the present configuration file. */
export const readClients = (): readonly Client[] => readConfigFile(readEnvironment())?.clients ?? [];

/** The retention of the present configuration file. */
export const readRetention = (): Retention => readRetentionOf(readEnvironment());

/** Sends a test message to each notifier of the present configuration file. */
export async function testConfiguredNotifiers(): Promise<NotifierTest[]> {
  const environment = readEnvironment();
  const file = readConfigFile(environment);
  const { PUBLIC_URL: url = "", ADMIN } = readSettings(environment, ["PUBLIC_URL", "ADMIN"]);
  if (file === null) return [];
  const notify = createNotify({ instance: hostname(), url, page: pageUrlOf({ ADMIN }, url) }, () =>
    handlerEnvironment(environment, file),
  );
  return testNotifiers(notify, file.alerts.notifiers, Date.now());
}
