import type { Outage } from "./outage.ts";

/** That a server took deliveries, in Unix milliseconds. */
export interface Heartbeat {
  at: number;
  /** Whether it then stopped in order. */
  isLast: boolean;
}

/** Keeps when deliveries could not be taken, over a restart. Each method is one transaction. */
export interface OutageStore {
  /**
   * Records that a server takes deliveries at a time, in Unix milliseconds, and whether it stops now. Returns the
   * heartbeat before it, of any server; null at the first call.
   */
  beat(at: number, isLast?: boolean): Promise<Heartbeat | null>;
  /** The newest heartbeat of any server; null before the first one. */
  lastBeat(): Promise<number | null>;
  /** Keeps an outage. One of the same kind and beginning is prolonged. Forgets those that ended before a time. */
  record(outage: Outage, forgetBefore: number): Promise<void>;
  /** The outages that had not ended at a time, the oldest first. */
  list(since: number): Promise<Outage[]>;
}
