/** A delivery that was refused. The time is Unix milliseconds. */
export interface Refusal {
  receivedAt: number;
  source: string;
  /** A code of errors, or why there was that error. */
  reason: string;
  address: string;
}

const KEPT = 100;

/** Keeps the newest refusals of this server in memory. */
export function createRecentRefusals(now: () => number) {
  const refusals: Refusal[] = [];
  return {
    add(refusal: Omit<Refusal, "receivedAt">): void {
      refusals.unshift({ receivedAt: now(), ...refusal });
      refusals.length = Math.min(refusals.length, KEPT);
    },
    /** The newest first. */
    list: (): readonly Refusal[] => refusals,
  };
}
