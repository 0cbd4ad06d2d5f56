export const STATUSES = ["queued", "processed", "failed"] as const;
export type Status = (typeof STATUSES)[number];

/** What may happen to a stored event, and where it leads. A claim leaves the status as it is: a lease is not a state. */
export const MOVES = {
  queued: { succeed: "processed", retry: "queued", giveUp: "failed" },
  processed: { replay: "queued" },
  failed: { replay: "queued" },
} as const satisfies Record<Status, Record<string, Status>>;

/** How an attempt ended, as kept in its history. */
export type AttemptOutcome = "succeeded" | "failed" | "lease_expired";

/** Where an attempt leaves its event. Times are Unix milliseconds. */
export type Next = { to: "processed" } | { to: "queued"; runAt: number } | { to: "failed"; reason: string };
