import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { createAlertDelivery } from "../alerts/delivery.ts";
import { createAlertMemory } from "../alerts/memory.ts";
import { createNotify, type Notify } from "../alerts/notifiers.ts";
import type { Facts, WatchedSource } from "../alerts/rules.ts";
import { createAlertWatch } from "../alerts/watch.ts";
import { endSessionQuery } from "../auth/end-session.ts";
import { DEFAULT_ALERTS } from "../config/file/alerts.ts";
import { type ConfigFile, handlerEnvironment } from "../config/file/config-file.ts";
import type { Settings } from "../config/settings.ts";
import { sourcesOf } from "../config/sources.ts";
import { createOldestRunning } from "../events/oldest-running.ts";
import type { Readiness } from "../http/operations.ts";
import { DAY_MS } from "../lib/durations.ts";
import { orUnknown } from "../lib/timeout.ts";
import type { Admission } from "../webhook/intake/admission.ts";
import { oldSecretInUse } from "../webhook/secrets/rotation.ts";
import type { Wiring } from "./configuration.ts";
import type { Deliveries } from "./deliveries.ts";
import { readMissed, readSubscriptions } from "./missed.ts";
import type { Part } from "./parts.ts";
import { watchRisks } from "./risks.ts";

interface AlertNeeds {
  admission: Pick<Admission, "freeBytes" | "minFreeBytes" | "paused">;
  /** Whether this server alone alerts now. */
  isOnDuty: () => Promise<boolean>;
  /** The public URL; empty if there is none. */
  url: string;
  /** The URL of the admin page; empty if there is none. */
  page: string;
  readiness: Readiness;
  deliveries: Pick<Deliveries, "ownRefusals" | "appendError">;
}

/** Creates the watch for alerts. */
export function openAlerts(wiring: Wiring, parts: AlertNeeds): Part {
  const { admission, isOnDuty, url, page, readiness, deliveries } = parts;
  const { settings, config, stores, log } = wiring;
  const { events, now } = stores;
  const store = createAlertMemory(stores.alerts, log);
  let since = 0;
  // In an outage of the store, what else is measured still counts.
  const readStore = {
    backlog: orUnknown(() => events.backlog()),
    routes: orUnknown(() => events.routes(now())),
    attempts: orUnknown(() => events.attemptsSince(since)),
    sources: orUnknown(() => readWatchedSources(wiring)),
    tokens: orUnknown(() => stores.tokens.list()),
    newLogins: orUnknown(() => stores.factors.loginsFromNewNetworks(now() - DAY_MS)),
    missed: orUnknown(() => readMissed(stores, sourcesOf(settings, config.current))),
    subscriptions: orUnknown(() => readSubscriptions(stores.subscriptions, sourcesOf(settings, config.current))),
  };

  const oldestQueuedAt = createOldestRunning(events);
  const readRisks = watchRisks(settings.DATA_DIR, stores.encryption);

  /** The link that ends a session. */
  const endUrlOf = (sid: string) =>
    url === "" ? null : `${url}/login/end?${endSessionQuery(settings.JWT_SECRET, sid)}`;

  async function readFacts(attemptsSince: number): Promise<Facts> {
    since = attemptsSince;
    const [backlog, routes, attempts, sources, tokens, newLogins, missed, subscriptions, states, risks] =
      await Promise.all([
        readStore.backlog(),
        readStore.routes(),
        readStore.attempts(),
        readStore.sources(),
        readStore.tokens(),
        readStore.newLogins(),
        readStore.missed(),
        readStore.subscriptions(),
        readiness(),
        readRisks(),
      ]);
    const { freeBytes, minFreeBytes, paused } = admission;
    const isKnown = freeBytes !== null && minFreeBytes !== null;
    const disk = isKnown ? { freeBytes, minFreeBytes, isPaused: paused.disk_low } : null;
    return {
      now: now(),
      backlog: backlog && { ...backlog, oldestQueuedAt: await oldestQueuedAt(backlog, routes) },
      routes,
      attempts,
      sources,
      missed,
      subscriptions,
      disk,
      certificateEndsAt: readCertificateEnd(settings),
      tokens,
      newLogins: newLogins?.map(({ sid, ...login }) => ({ ...login, endUrl: endUrlOf(sid) })) ?? null,
      parts: [...states, ...risks],
      refused: deliveries.ownRefusals(),
      writeError: deliveries.appendError() ?? store.fault,
    };
  }

  const notify = openNotify(wiring, { url, page });
  const delivery = createAlertDelivery({ store, notify, log, now });
  const alertsOf = (file: ConfigFile | null) => file?.alerts ?? DEFAULT_ALERTS;
  const options = { store, readFacts, delivery, log, isOnDuty, now };
  const watch = createAlertWatch(alertsOf(config.current), options);
  return { ...watch, apply: (file) => watch.apply(alertsOf(file)) };
}

/** Sends messages of this server. `url` leads to it, and `page` to its page. */
export function openNotify(
  { environment, config, stores }: Wiring,
  links: Pick<Parameters<typeof createNotify>[0], "url" | "page">,
): Notify {
  const programs = () => handlerEnvironment(environment, config.current);
  return createNotify({ instance: hostname(), ...links }, programs, stores.now);
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

/**
 * When the certificate ends, in Unix milliseconds. Null without one. Unknown if it cannot be read, which a reload
 * reports.
 */
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
