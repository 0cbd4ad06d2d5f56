/**
 * Where a job stands. An attempt moves it from `queued` to any of the three, a replay from the other two to `queued`. A
 * claim leaves the status as it is: a lease is not a state. An event is queued until it has jobs and while one is queued,
 * then failed if one has failed, else processed.
 */
export const STATUSES = ["queued", "processed", "failed"] as const;
export type Status = (typeof STATUSES)[number];

/** Begins the id of an event that only its bytes name: their SHA-256 in hex follows. */
export const DIGEST_PREFIX = "sha256:";
