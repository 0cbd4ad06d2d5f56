import { DEFAULT_ROUTE } from "../events/job.ts";
import type { RetryPolicy } from "../worker/decide.ts";
import type { HandlerConfig, Route } from "../worker/route.ts";
import type { ShadowRoute } from "../worker/shadow/shadows.ts";
import type { ConfigFile } from "./file/config-file.ts";
import type { RetryEntry } from "./file/retry.ts";
import { EVERY_EVENT, type RouteEntry } from "./file/route.ts";
import { signingKeyOf } from "./secrets.ts";
import type { Settings } from "./settings.ts";

/** The settings that make the route `default`, and the defaults of routes. */
export const ROUTE_SETTING_NAMES = [
  "FORWARD_URL",
  "FORWARD_SECRET",
  "RETRY_ATTEMPTS",
  "RETRY_BACKOFF",
  "RETRY_DELAY",
  "RETRY_JITTER",
  "WORKER_CONCURRENCY",
  "HANDLER_TIMEOUT",
] as const;

type RouteSettings = Pick<Settings, (typeof ROUTE_SETTING_NAMES)[number]>;

/** All routes: those of the configuration file, or without any in it the route `default`, which takes every event. */
export function routesOf(settings: RouteSettings, file: ConfigFile | null): Route[] {
  const entries = file?.routes ?? [{ ...EVERY_EVENT, name: DEFAULT_ROUTE, handler: defaultHandler(settings) }];
  return entries.map((entry) => withDefaults(entry, settings));
}

/** The shadows of the configuration file. They are no routes, and take no events. */
export function shadowsOf(settings: RouteSettings, file: ConfigFile | null): ShadowRoute[] {
  return (file?.shadows ?? []).map((entry) => ({
    ...entry,
    timeoutMs: entry.timeoutMs ?? settings.HANDLER_TIMEOUT,
    concurrency: entry.concurrency ?? settings.WORKER_CONCURRENCY,
  }));
}

function defaultHandler({ FORWARD_URL: url, FORWARD_SECRET: secret }: RouteSettings): HandlerConfig {
  if (url === undefined) return { kind: "log" };
  return { kind: "http", url, key: secret === undefined ? null : signingKeyOf(secret) };
}

function withDefaults(entry: RouteEntry, settings: RouteSettings): Route {
  return {
    ...entry,
    timeoutMs: entry.timeoutMs ?? settings.HANDLER_TIMEOUT,
    retry: retryPolicyOf(entry.retry, settings),
    concurrency: entry.concurrency ?? settings.WORKER_CONCURRENCY,
  };
}

const DEFAULT_DELAY_MS = { exponential: 1000, linear: 30_000 };
// Exponential backoff reaches this after ten attempts.
const MAX_DELAY_MS = 10 * 60_000;

/** The retries of a route. What it does not say comes from the settings. */
function retryPolicyOf(retry: RetryEntry, settings: RouteSettings): RetryPolicy {
  const { delaysMs, giveUpOn, backoff = settings.RETRY_BACKOFF } = retry;
  const common = { jitter: retry.jitter ?? settings.RETRY_JITTER, ...(giveUpOn && { giveUpOn }) };
  if (delaysMs) return { ...common, attempts: delaysMs.length + 1, backoff: "list", delaysMs };
  const delayMs = retry.delayMs ?? settings.RETRY_DELAY ?? DEFAULT_DELAY_MS[backoff];
  return {
    ...common,
    attempts: retry.attempts ?? settings.RETRY_ATTEMPTS,
    backoff,
    delayMs,
    maxDelayMs: retry.maxDelayMs ?? Math.max(delayMs, MAX_DELAY_MS),
  };
}
