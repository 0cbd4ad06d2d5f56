import type { ConfigFile } from "../config/file/config-file.ts";
import { DEFAULT_RETENTION } from "../events/retention.ts";
import { countPurged } from "../instrument.ts";
import type { Metrics } from "../metrics.ts";
import { createPurger } from "../worker/purger.ts";
import type { Wiring } from "./configuration.ts";
import type { Part } from "./parts.ts";

/** Creates the removal of old events. `isOnDuty` tells whether this server alone removes them now. */
export function openPurger({ config, stores, log }: Wiring, metrics: Metrics, isOnDuty: () => Promise<boolean>): Part {
  const retentionOf = (file: ConfigFile | null) => file?.retention ?? DEFAULT_RETENTION;
  const purger = createPurger(retentionOf(config.current), {
    store: stores.events,
    log,
    isOnDuty,
    onPurged: countPurged(metrics),
    now: stores.now,
  });
  return { ...purger, apply: (file) => purger.apply(retentionOf(file)) };
}
