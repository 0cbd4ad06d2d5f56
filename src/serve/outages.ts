import { sinceBootMs } from "../lib/since-boot.ts";
import type { Admission } from "../webhook/intake/admission.ts";
import { createOutageWatch, type OutageWatch } from "../webhook/outages/watch.ts";
import type { Wiring } from "./configuration.ts";
import type { Part } from "./parts.ts";

/** Creates the watch for times in which deliveries cannot be taken. It begins when the server listens. */
export function openOutages(
  { stores, log }: Wiring,
  { pausedBy }: Pick<Admission, "pausedBy">,
): Part & Pick<OutageWatch, "refused"> {
  const { outages: store, shared, now } = stores;
  const watch = createOutageWatch({ store, pausedBy, isShared: shared !== null, log, now, sinceBootMs });
  return {
    refused: watch.refused,
    start() {
      // The start of the server does not wait for a slow disk.
      void watch.start();
    },
    stop: watch.stop,
  };
}
