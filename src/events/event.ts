/**
 * The status of an event, or of a job. An attempt moves a job from `queued` to any of the three. A replay moves it from
 * `processed` or `failed` to `queued`. A claim leaves the status unchanged: a lease is not a status. An event is queued
 * before fan-out and while one of its jobs is queued. Otherwise it is failed if one job has failed, else processed.
 */
export const STATUSES = ["queued", "processed", "failed"] as const;
export type Status = (typeof STATUSES)[number];

/** A discarded job is never attempted again, unless a replay is forced. */
export type JobStatus = Status | "discarded";

/** The status of an event, derived from its jobs. An event that needs no jobs is processed. */
export function statusOf(jobs: readonly JobStatus[]): Status {
  if (jobs.includes("queued")) return "queued";
  return jobs.includes("failed") ? "failed" : "processed";
}

/** Prefix of the id of an event that is identified by its bytes. Their SHA-256 in hex follows. */
export const DIGEST_PREFIX = "sha256:";
