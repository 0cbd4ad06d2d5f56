import { createReadiness, type Readiness } from "../http/operations.ts";
import type { Metrics } from "../metrics.ts";
import type { Admission } from "../webhook/intake/admission.ts";
import { readCertificateEnd, readWatchedSources } from "./alerts.ts";
import type { Wiring } from "./configuration.ts";
import type { Deliveries } from "./deliveries.ts";

/** The checks of `/readyz`. */
export function openReadiness({ settings, stores }: Wiring, admission: Pick<Admission, "requireOpen">): Readiness {
  const { events: tryEvents, sessions: trySessions, ...otherChecks } = stores.checks;
  return createReadiness({
    async events() {
      await tryEvents?.();
      await stores.events.check();
    },
    async sessions() {
      await trySessions?.();
      await stores.sessions.check(settings.DEMO_USER_ID);
    },
    intake: admission.requireOpen,
    ...otherChecks,
  });
}

/** What is measured at each request for the metrics. */
interface Measured {
  admission: Pick<Admission, "paused" | "freeBytes" | "minFreeBytes">;
  deliveries: Pick<Deliveries, "intake" | "appendError">;
  isAvailable: (route: string) => boolean;
  readiness: Readiness;
}

/** The text of the metrics. */
export function openExposition(
  wiring: Wiring,
  metrics: Metrics,
  { admission, deliveries, isAvailable, readiness }: Measured,
): ReturnType<Metrics["exposition"]> {
  const { settings, stores } = wiring;
  return metrics.exposition({
    backlog: () => stores.events.backlog(),
    routes: () => stores.events.routes(),
    isAvailable,
    waiting: () => deliveries.intake.waiting,
    queueLimit: settings.WEBHOOK_QUEUE_LIMIT,
    logBytes: stores.logBytes,
    paused: () => admission.paused,
    freeDiskBytes: () => admission.freeBytes,
    minFreeDiskBytes: () => admission.minFreeBytes,
    sources: () => readWatchedSources(wiring),
    readiness,
    hasFailedWrite: () => deliveries.appendError() !== null,
    certificateEndsAt: () => readCertificateEnd(settings),
    now: stores.now,
  });
}
