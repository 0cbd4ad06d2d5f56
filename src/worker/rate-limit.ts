/** Limits how many attempts begin per second. Times are Unix milliseconds. */
export interface RateLimit {
  /** How many may begin now. */
  available(now: number): number;
  /** When the next one may begin. */
  nextAt(now: number): number;
  /** Counts attempts that begin. */
  take(count: number, now: number): void;
}

// After a pause, the attempts of this time may begin at once.
const BURST_SECONDS = 0.1;

/** Creates a token bucket. A null rate is no limit. */
export function createRateLimit(perSecond: number | null): RateLimit {
  if (perSecond === null) {
    return { available: () => Number.POSITIVE_INFINITY, nextAt: (now) => now, take: () => {} };
  }
  const perMs = perSecond / 1000;
  const most = Math.max(1, perSecond * BURST_SECONDS);
  let tokens = most;
  let filledAt = Number.NEGATIVE_INFINITY;

  function fill(now: number): void {
    // If the clock was set back, the time since then is lost.
    if (now > filledAt) tokens = Math.min(most, tokens + (now - filledAt) * perMs);
    filledAt = now;
  }

  return {
    available(now) {
      fill(now);
      return Math.floor(tokens);
    },
    nextAt(now) {
      fill(now);
      return tokens >= 1 ? now : now + Math.ceil((1 - tokens) / perMs);
    },
    take(count, now) {
      fill(now);
      tokens -= count;
    },
  };
}
