import assert from "node:assert/strict";
import { test } from "node:test";
import type { ClaimedJob } from "../src/events/job.ts";
import { countSettled } from "../src/instrument.ts";
import { createMetrics } from "../src/metrics.ts";
import { claimedJob } from "./helpers/job.ts";

/** The number of latencies that are counted after a job was processed. */
async function latenciesOf(changes: Partial<ClaimedJob>): Promise<number | undefined> {
  const metrics = createMetrics();
  const job = claimedJob(changes);
  const { event, route, attempt, receivedAt: startedAt } = job;
  const ended = { startedAt, finishedAt: startedAt + 5, next: { to: "processed" }, error: null } as const;
  countSettled(metrics)(job, { event, route, attempt, owner: "worker", ...ended }, true);
  const { values } = await metrics.processingSeconds.get();
  return values.find(({ metricName }) => metricName?.endsWith("_count"))?.value ?? 0;
}

test("the latency of a job is counted after an attempt that was free, and not after a replay", async () => {
  assert.equal(await latenciesOf({ attempt: 2, attemptOfBudget: 1, isReplay: false }), 1);
  assert.equal(await latenciesOf({ attempt: 1, attemptOfBudget: 1, isReplay: true }), 0);
});
