import { durationText } from "../lib/figures.ts";
import type { Condition } from "./alert.ts";

/** A time in which deliveries of a source were missed that its provider may not repeat. Times are Unix milliseconds. */
export interface MissedTime {
  source: string;
  from: number;
  to: number;
  /** Why, as a sentence about the time. */
  reason: string;
  remedy: string;
}

/** The subscription of a source at its provider. Times are Unix milliseconds. */
export interface WatchedSubscription {
  source: string;
  expiresAt: number;
  /** How long it lasts after a renewal; null if it is not renewed here. */
  lifeMs: number | null;
  /** Why the last renewal failed; null if it did not. */
  error: string | null;
}

/** The longest missed time of each source, if it is long. */
export function missedConditions(
  missed: readonly MissedTime[] | null,
  { outage }: { outage: { longerThanMs: number } | null },
): Condition[] {
  if (outage === null) return [];
  const long = (missed ?? []).filter(({ from, to }) => to - from > outage.longerThanMs);
  const longest = Map.groupBy(long, ({ source }) => source);
  return [...longest].map(([source, times]): Condition => {
    const { from, to, reason, remedy } = times.toSorted(
      (one, other) => other.to - other.from - (one.to - one.from),
    )[0] as MissedTime;
    const summary = `no delivery of ${source} could be taken for ${durationText(to - from)}, and its provider may not repeat them: ${reason}`;
    return { name: "AuthserveOutage", labels: { source }, summary, remedy };
  });
}

/** Whether a subscription may end: its renewal fails or is late, or nobody renews it and it ends soon. */
export function isSubscriptionAtRisk(
  { expiresAt, lifeMs, error }: WatchedSubscription,
  withinMs: number,
  now: number,
): boolean {
  return error !== null || expiresAt - now < (lifeMs === null ? withinMs : lifeMs / 3);
}

/** The subscriptions that may end. */
export function subscriptionConditions(
  all: readonly WatchedSubscription[] | null,
  { subscription }: { subscription: { withinMs: number } | null },
  now: number,
): Condition[] {
  if (subscription === null) return [];
  const atRisk = (all ?? []).filter((one) => isSubscriptionAtRisk(one, subscription.withinMs, now));
  return atRisk.map(({ source, expiresAt, lifeMs, error }): Condition => {
    const end =
      expiresAt > now ? `ends in ${durationText(expiresAt - now)}` : `ended ${durationText(now - expiresAt)} ago`;
    const why = error === null ? "" : `, and was not renewed: ${error}`;
    const remedy =
      lifeMs === null
        ? "renew it at the provider, and set expiresAt"
        : "correct renew of the source, or its credential";
    return {
      name: "AuthserveSubscriptionEnds",
      labels: { source },
      summary: `the subscription of ${source} ${end}${why}`,
      remedy,
    };
  });
}
