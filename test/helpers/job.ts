import type { ClaimedJob } from "../../src/events/job.ts";

/** A claimed job with some members set by the test. */
export function claimedJob(changes: Partial<ClaimedJob> = {}): ClaimedJob {
  return {
    event: 1,
    route: "default",
    source: "default",
    eventId: "evt_1",
    type: "push",
    contentType: "application/json",
    payload: Buffer.from('{"a":1}'),
    headers: "{}",
    isReplay: false,
    attempt: 3,
    countedAttempt: 3,
    receivedAt: 1_800_000_000_000,
    attemptOfBudget: 1,
    ...changes,
  };
}
