import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { createAlertDelivery } from "../alerts/delivery.ts";
import { createAlertMemory } from "../alerts/memory.ts";
import { createNotify } from "../alerts/notifiers.ts";
import type { Facts, WatchedSource } from "../alerts/rules.ts";
import { type AlertWatch, createAlertWatch } from "../alerts/watch.ts";
import { DEFAULT_ALERTS } from "../config/file/alerts-entry.ts";
import { handlerEnvironment } from "../config/handler-environment.ts";
import type { Settings } from "../config/settings.ts";
import { sourcesOf } from "../config/sources.ts";
import type { Readiness } from "../http/operations.ts";
import { orUnknown } from "../lib/or-unknown.ts";
import type { Admission } from "../webhook/intake/admission.ts";
import { oldSecretInUse } from "../webhook/secrets/rotation.ts";
import type { Wiring } from "./configuration.ts";

/** What the alerts are connected with besides. */
interface AlertParts {
  admission: Pick<Admission, "freeBytes" | "minFreeBytes" | "paused">;
  /** Whether this server alone alerts now. */
  isAlerting: () => Promise<boolean>;
  /** The public URL; empty if there is none. */
  url: string;
  readiness: Readiness;
  /** The deliveries of the last minute that the server refused for reasons of its own, by code. */
  refused: () => Record<string, number>;
  /** Why the last commit of deliveries failed; null if it did not. */
  appendError: () => string | null;
}

/** Creates the watch for alerts. */
export function openAlerts(wiring: Wiring, parts: AlertParts): AlertWatch {
  const { admission, isAlerting, url, readiness, refused, appendError } = parts;
  const { settings, environment, config, stores, log } = wiring;
  const { events, now } = stores;
  const store = createAlertMemory(stores.alerts, log);
  let since = 0;
  // In an outage of the store, what else is measured still counts.
  const readStore = {
    backlog: orUnknown(() => events.backlog()),
    routes: orUnknown(() => events.routes()),
    attempts: orUnknown(() => events.attemptsSince(since)),
    sources: orUnknown(() => readWatchedSources(wiring)),
  };

  async function readFacts(attemptsSince: number): Promise<Facts> {
    since = attemptsSince;
    const [backlog, routes, attempts, sources, states] = await Promise.all([
      readStore.backlog(),
      readStore.routes(),
      readStore.attempts(),
      readStore.sources(),
      readiness(),
    ]);
    const { freeBytes, minFreeBytes, paused } = admission;
    const isKnown = freeBytes !== null && minFreeBytes !== null;
    const disk = isKnown ? { freeBytes, minFreeBytes, isPaused: paused.disk_low } : null;
    return {
      now: now(),
      backlog,
      routes,
      attempts,
      sources,
      disk,
      certificateEndsAt: readCertificateEnd(settings),
      parts: states,
      refused: refused(),
      writeError: appendError() ?? store.fault,
    };
  }

  const programs = () => handlerEnvironment(environment, config.current);
  const notify = createNotify({ instance: hostname(), url }, programs, now);
  const delivery = createAlertDelivery({ store, notify, log, now });
  return createAlertWatch(config.current?.alerts ?? DEFAULT_ALERTS, {
    store,
    readFacts,
    delivery,
    log,
    isOnDuty: isAlerting,
    now,
  });
}

/** The configured sources, with what alerts and metrics tell of them. */
export async function readWatchedSources({
  settings,
  config,
  stores,
}: Pick<Wiring, "settings" | "config" | "stores">): Promise<WatchedSource[]> {
  const records = new Map((await stores.sources.list()).map((record) => [record.source, record]));
  return sourcesOf(settings, config.current).map((source) => {
    const record = records.get(source.name);
    return {
      name: source.name,
      expectEveryMs: source.expectEveryMs ?? null,
      lastReceivedAt: record?.lastReceivedAt ?? null,
      oldSecret: oldSecretInUse(source, record),
    };
  });
}

/** When the certificate ends, in Unix milliseconds. Null without one. Unknown if it cannot be read, which a reload reports. */
export function readCertificateEnd({
  TLS_CERT_FILE: file,
}: Pick<Settings, "TLS_CERT_FILE">): Facts["certificateEndsAt"] {
  if (file === undefined) return null;
  try {
    return new X509Certificate(readFileSync(file)).validToDate.getTime();
  } catch {
    return "unknown";
  }
}
