/** A delivery that was refused. The time is Unix milliseconds. */
export interface RecentRefusal {
  receivedAt: number;
  source: string;
  /** A code of errors, or why there was that error. */
  reason: string;
  address: string;
}

const KEPT = 100;

/** Keeps the newest refusals of this server in memory. */
export function createRecentRefusals(now: () => number) {
  const refusals: RecentRefusal[] = [];
  return {
    add(refusal: Omit<RecentRefusal, "receivedAt">): void {
      refusals.unshift({ receivedAt: now(), ...refusal });
      refusals.length = Math.min(refusals.length, KEPT);
    },
    /** The newest first. */
    list: (): readonly RecentRefusal[] => refusals,
  };
}
