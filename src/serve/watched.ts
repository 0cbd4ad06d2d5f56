import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { isSubscriptionAtRisk } from "../alerts/missed.ts";
import { DEFAULT_RULES, type WatchedSource } from "../alerts/rules.ts";
import { logoutsOf, readClientStates } from "../auth/clients/states.ts";
import { DEFAULT_ALERTS } from "../config/file/alerts.ts";
import type { Settings } from "../config/settings.ts";
import { sourcesOf } from "../config/sources.ts";
import { createOldestRunning } from "../events/oldest-running.ts";
import { DAY_MS } from "../lib/durations.ts";
import { orUnknown } from "../lib/timeout.ts";
import { oldSecretInUse } from "../webhook/secrets/rotation.ts";
import type { Wiring } from "./configuration.ts";
import { readMissed, readSubscriptions } from "./missed.ts";

/** What alerts and metrics tell of the stores and of the certificate. Null is unknown. */
export type Watched = Awaited<ReturnType<ReturnType<typeof createWatched>>>;

/** Creates the read of what is watched. In an outage of the store, what else is measured still counts. */
export function createWatched(wiring: Pick<Wiring, "settings" | "config" | "stores">) {
  const { settings, config, stores } = wiring;
  const { events, factors, tokens, now } = stores;
  const sources = () => sourcesOf(settings, config.current);
  const oldestRunning = createOldestRunning(events);
  const read = {
    backlog: orUnknown(() => events.backlog()),
    routes: orUnknown(() => events.routes(now())),
    sources: orUnknown(() => readSources(wiring)),
    tokens: orUnknown(() => tokens.list()),
    logouts: orUnknown(async () => {
      const states = await readClientStates(config.current?.clients ?? [], stores);
      return states.map((state) => logoutsOf(state, now()));
    }),
    newLogins: orUnknown(() => factors.loginsFromNewNetworks(now() - DAY_MS)),
    missed: orUnknown(() => readMissed(stores, sources())),
    subscriptions: orUnknown(async () => {
      const { withinMs } = (config.current?.alerts ?? DEFAULT_ALERTS).rules.subscription ?? DEFAULT_RULES.subscription;
      const found = await readSubscriptions(stores.subscriptions, sources());
      return found.map((one) => ({ ...one, isAtRisk: isSubscriptionAtRisk(one, withinMs, now()) }));
    }),
  };

  return async () => {
    const [backlog, routes, watchedSources, tokenRecords, logouts, newLogins, missed, subscriptions] =
      await Promise.all([
        read.backlog(),
        read.routes(),
        read.sources(),
        read.tokens(),
        read.logouts(),
        read.newLogins(),
        read.missed(),
        read.subscriptions(),
      ]);
    return {
      backlog: backlog && { ...backlog, oldestRunning: await oldestRunning(backlog, routes) },
      routes,
      sources: watchedSources,
      tokens: tokenRecords,
      logouts,
      newLogins,
      missed,
      subscriptions,
      certificateEndsAt: readCertificateEnd(settings),
    };
  };
}

async function readSources({
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
function readCertificateEnd({ TLS_CERT_FILE: file }: Pick<Settings, "TLS_CERT_FILE">): number | null | "unknown" {
  if (file === undefined) return null;
  try {
    return new X509Certificate(readFileSync(file)).validToDate.getTime();
  } catch {
    return "unknown";
  }
}
