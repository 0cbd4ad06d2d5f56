/**
 * The status of a job. An attempt moves it from `queued` to `processed` or `failed`, or leaves it queued. A claim
 * leaves the status unchanged: a lease is not a status. A discarded job is never attempted again, unless a replay is
 * forced.
 */
export const JOB_STATUSES = ["queued", "processed", "failed", "discarded"] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

/**
 * The status of an event. It is queued before fan-out and while one of its jobs is. Otherwise it is failed if one of
 * them has failed, else discarded if one is discarded, else processed. It is unrouted if no route has taken it. Read by
 * its id, an event that waits for the fan-out of a forced replay is queued, too.
 */
export const STATUSES = [...JOB_STATUSES, "unrouted"] as const;
export type Status = (typeof STATUSES)[number];

/** The status of an event after fan-out, derived from its jobs. */
export function statusOf(jobs: readonly JobStatus[]): Status {
  if (jobs.length === 0) return "unrouted";
  return (["queued", "failed", "discarded"] as const).find((status) => jobs.includes(status)) ?? "processed";
}

/** What counts and retention tell apart. Discarded and unrouted events count as processed there. */
export type CountedStatus = "queued" | "processed" | "failed";

/** The status under which an event is counted. */
export const countedAs = (status: Status): CountedStatus =>
  status === "queued" || status === "failed" ? status : "processed";

/** Prefix of the id of an event that is identified by its bytes. Their SHA-256 in hex follows. */
export const DIGEST_PREFIX = "sha256:";
