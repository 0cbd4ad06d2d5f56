/** Limits how many of something begin per second. Times are milliseconds of a clock that is never set. */
interface RateLimit {
  /** How many may begin now. */
  available(now: number): number;
  /** When the next one may begin. */
  nextAt(now: number): number;
  /** Counts what begins. */
  take(count: number, now: number): void;
}

// After a pause, what this time allows may begin at once.
const BURST_SECONDS = 0.1;

// Without a share of the rate, none may begin. Then it is asked again.
const ASK_AGAIN_MS = 1000;

/**
 * Creates a token bucket. A null rate is no limit. `share` is the part of the rate that this server has now, and
 * `burstSeconds` how long what was not used is kept.
 */
export function createRateLimit(
  perSecond: number | null,
  { share = () => 1, burstSeconds = BURST_SECONDS }: { share?: () => number; burstSeconds?: number } = {},
): RateLimit {
  if (perSecond === null) {
    return { available: () => Number.POSITIVE_INFINITY, nextAt: (now) => now, take: () => {} };
  }
  const perMs = () => (perSecond * share()) / 1000;
  const most = () => (share() === 0 ? 0 : Math.max(1, perSecond * share() * burstSeconds));
  let tokens = most();
  let filledAt = Number.NEGATIVE_INFINITY;

  function fill(now: number): void {
    // Of the time since a clock was set back nothing is known, nor of that before the first call.
    if (now > filledAt && Number.isFinite(filledAt)) tokens = Math.min(most(), tokens + (now - filledAt) * perMs());
    filledAt = now;
  }

  return {
    available(now) {
      fill(now);
      return Math.floor(tokens);
    },
    nextAt(now) {
      fill(now);
      if (share() === 0) return now + ASK_AGAIN_MS;
      return tokens >= 1 ? now : now + Math.ceil((1 - tokens) / perMs());
    },
    take(count, now) {
      fill(now);
      tokens -= count;
    },
  };
}
