import { sourcesOf } from "../config/sources.ts";
import { isoTime } from "../lib/iso-time.ts";
import { sinceBootMs } from "../lib/since-boot.ts";
import type { OutageParts } from "../operations/outages.ts";
import type { CatchUpResult } from "../webhook/catch-up/run.ts";
import type { Admission } from "../webhook/intake/admission.ts";
import { readOutages, readReach } from "../webhook/outages/read.ts";
import { outageJson } from "../webhook/outages/report.ts";
import { createOutageWatch, type OutageWatch } from "../webhook/outages/watch.ts";
import type { CatchUps } from "./catch-up.ts";
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

function countsOf(result: CatchUpResult | null) {
  if (result === null) return null;
  const { error: _, refusal: __, ...counts } = result;
  return counts;
}

/** What the admin page tells of outages, and does about them. */
export function openOutageReports(
  { settings, config, stores }: Wiring,
  catchUps: Pick<CatchUps, "begin" | "isRunning" | "lastResult">,
): OutageParts["outages"] {
  return {
    async read(since) {
      const sources = sourcesOf(settings, config.current);
      const reports = await readOutages(stores, sources, { since, now: stores.now() });
      const reach = await Promise.all(sources.map((source) => readReach(stores.catchUps, source)));
      return {
        items: reports.map(outageJson),
        sources: reach.map(({ ranAt, coveredUntil, ...source }) => ({
          ...source,
          running: catchUps.isRunning(source.name),
          ranAt: isoTime(ranAt),
          coveredUntil: isoTime(coveredUntil),
          last: countsOf(catchUps.lastResult(source.name)),
        })),
      };
    },
    catchUp: catchUps.begin,
  };
}
