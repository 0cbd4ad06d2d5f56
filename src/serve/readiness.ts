import { createReadiness, type Readiness } from "../http/health.ts";
import type { Admission } from "../webhook/intake/admission.ts";
import type { Wiring } from "./configuration.ts";

/** Creates the checks of `/readyz`. */
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
