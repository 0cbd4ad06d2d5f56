import assert from "node:assert/strict";
import { test } from "node:test";
import type { JobDetail } from "../../src/events/store.ts";
import { whyNotDiscarded, whyNotReplayed } from "../../src/events/untaken.ts";

const job = (leased: boolean) => ({ leased }) as JobDetail;

test("an event that a replay did not change is processed or queued", () => {
  assert.equal(whyNotReplayed({ status: "processed", erased: null }), "is already processed");
  assert.equal(whyNotReplayed({ status: "queued", erased: null }), "is already queued");
});

test("an event that a discard did not change is being attempted, has no jobs yet, or has no open ones", () => {
  const ofJobs = (status: "queued" | "processed", ...jobs: JobDetail[]) =>
    whyNotDiscarded({ status, jobs, erased: null });
  assert.match(ofJobs("queued", job(false), job(true)), /^an attempt is running/);
  assert.match(ofJobs("queued"), /^has no jobs yet/);
  assert.match(ofJobs("processed", job(false)), /^is already processed or discarded/);
});
