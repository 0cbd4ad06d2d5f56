import { hostname } from "node:os";
import { createAlertDelivery } from "../alerts/delivery.ts";
import { createAlertMemory } from "../alerts/memory.ts";
import { createNotify, type Notify } from "../alerts/notifiers.ts";
import type { Facts } from "../alerts/rules.ts";
import { createAlertWatch } from "../alerts/watch.ts";
import { endSessionQuery } from "../auth/end-session.ts";
import { DEFAULT_ALERTS } from "../config/file/alerts.ts";
import { type ConfigFile, handlerEnvironment } from "../config/file/config-file.ts";
import type { Readiness } from "../http/health.ts";
import { orUnknown } from "../lib/timeout.ts";
import type { Admission } from "../webhook/intake/admission.ts";
import type { Wiring } from "./configuration.ts";
import type { Deliveries } from "./deliveries.ts";
import type { Part } from "./parts.ts";
import { watchRisks } from "./risks.ts";
import type { Watched } from "./watched.ts";

interface AlertNeeds {
  admission: Pick<Admission, "freeBytes" | "minFreeBytes" | "paused">;
  /** Whether this server alone alerts now. */
  isOnDuty: () => Promise<boolean>;
  /** The public URL; empty if there is none. */
  url: string;
  /** The URL of the admin page; empty if there is none. */
  page: string;
  readiness: Readiness;
  readWatched: () => Promise<Watched>;
  deliveries: Pick<Deliveries, "ownRefusals" | "appendError">;
}

/** Creates the watch for alerts. */
export function openAlerts(wiring: Wiring, parts: AlertNeeds): Part {
  const { admission, isOnDuty, url, page, readiness, readWatched, deliveries } = parts;
  const { settings, config, stores, log } = wiring;
  const { events, now } = stores;
  const store = createAlertMemory(stores.alerts, log);
  let since = 0;
  const readAttempts = orUnknown(() => events.attemptsSince(since));
  const readRisks = watchRisks(settings.DATA_DIR, stores.encryption);

  /** The link that ends a session. */
  const endUrlOf = (sid: string) =>
    url === "" ? null : `${url}/login/end?${endSessionQuery(settings.JWT_SECRET, sid)}`;

  async function readFacts(attemptsSince: number): Promise<Facts> {
    since = attemptsSince;
    const [{ backlog, newLogins, ...watched }, attempts, states, risks] = await Promise.all([
      readWatched(),
      readAttempts(),
      readiness(),
      readRisks(),
    ]);
    const { freeBytes, minFreeBytes, paused } = admission;
    const isKnown = freeBytes !== null && minFreeBytes !== null;
    const disk = isKnown ? { freeBytes, minFreeBytes, isPaused: paused.disk_low } : null;
    return {
      now: now(),
      backlog: backlog && { ...backlog, oldestQueuedAt: backlog.oldestRunning },
      newLogins: newLogins?.map(({ sid, ...login }) => ({ ...login, endUrl: endUrlOf(sid) })) ?? null,
      ...watched,
      attempts,
      disk,
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
