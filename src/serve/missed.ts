import type { MissedTime, WatchedSubscription } from "../alerts/missed.ts";
import { DAY_MS } from "../lib/durations.ts";
import type { Stores } from "../stores.ts";
import { readOutages } from "../webhook/outages/read.ts";
import { outageText } from "../webhook/outages/report.ts";
import type { Source } from "../webhook/source.ts";

// An alert of an outage goes away by itself.
const MISSED_FOR_MS = DAY_MS;

/** What sources have missed within the last day that their providers may not repeat. */
export async function readMissed(
  stores: Pick<Stores, "outages" | "catchUps" | "now">,
  sources: readonly Source[],
): Promise<MissedTime[]> {
  const now = stores.now();
  const reports = await readOutages(stores, sources, { since: now - MISSED_FOR_MS, now });
  return reports.flatMap((outage) =>
    outage.sources
      .filter(({ isAtRisk }) => isAtRisk)
      .map(({ name, remedy }) => {
        const { from, to } = outage;
        return { source: name, from, to, reason: outageText(outage), remedy: remedy ?? "authserve outages" };
      }),
  );
}

/** The subscriptions that end: those that are renewed, and those whose end is configured. */
export async function readSubscriptions(
  subscriptions: Stores["subscriptions"],
  sources: readonly Source[],
): Promise<WatchedSubscription[]> {
  const watched = await Promise.all(
    sources.map(async ({ name, renew, expiresAt }): Promise<WatchedSubscription[]> => {
      if (renew === undefined)
        return expiresAt === undefined ? [] : [{ source: name, expiresAt, lifeMs: null, error: null }];
      const subscription = await subscriptions.read(name);
      if (subscription === null) return [];
      const { startedAt, expiresAt: end, error } = subscription;
      // A provider may grant less than was asked for.
      return [{ source: name, expiresAt: end, lifeMs: end - startedAt, error }];
    }),
  );
  return watched.flat();
}
