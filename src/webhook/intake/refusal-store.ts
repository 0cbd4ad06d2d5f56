/**
 * A refused delivery as it is kept over a restart, without anything of its body, headers and path. The time is Unix
 * milliseconds.
 */
export interface KeptRefusal {
  receivedAt: number;
  source: string;
  reason: string;
  address: string;
}

/** Keeps the newest refused deliveries of all servers on a database. Each method is one transaction. */
export interface RefusalStore {
  /** Adds refused deliveries, the oldest first. Of all it keeps the newest `most`, and none from before a time. */
  add(refusals: readonly KeptRefusal[], bounds: { most: number; since: number }): Promise<void>;
  /** Those that are not from before a time, the newest first. */
  list(since: number): Promise<KeptRefusal[]>;
}
