import type { OutageParts } from "../admin/outages.ts";
import { sourcesOf } from "../config/sources.ts";
import { isoTime } from "../lib/iso-time.ts";
import type { CatchUpResult } from "../webhook/catch-up/run.ts";
import { readOutages, readReach } from "../webhook/outages/read.ts";
import { outageJson } from "../webhook/outages/report.ts";
import type { CatchUps } from "./catch-up.ts";
import type { Wiring } from "./configuration.ts";

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
