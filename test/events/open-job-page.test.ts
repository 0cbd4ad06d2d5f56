import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { MAX_COMPARED_JOBS } from "../../src/events/limits.ts";
import { chooseJobs, isDiscardable, isReplayable, isStillFound, rangeOf } from "../../src/events/open-job-page.ts";
import type { JobFilter } from "../../src/events/store.ts";
import { NOW } from "../helpers/events.ts";

const row = (event: number, route = "a", lastError: string | null = null) => ({ event, route, lastError });
const origin = { source: "shop", type: "order.paid", receivedAt: NOW };

function choose(rows: ReturnType<typeof row>[], filter: Partial<JobFilter> = {}, limit = 10) {
  const { events, next } = chooseJobs(rows, () => origin, { status: "failed", ...filter }, { last: 9999, limit });
  return [[...events], next];
}

suite("a page of open jobs", () => {
  test("has the routes of each event, and no next page when all is read", () =>
    assert.deepEqual(choose([row(1), row(1, "b"), row(2)]), [
      [
        [1, ["a", "b"]],
        [2, ["a"]],
      ],
      null,
    ]));

  test("ends after as many events as fit, and the next one begins behind them", () => {
    assert.deepEqual(choose([row(1), row(2), row(5)], {}, 2), [
      [
        [1, ["a"]],
        [2, ["a"]],
      ],
      "4-9999",
    ]);
    assert.deepEqual(rangeOf("4-9999"), { after: 4, last: 9999 });
  });

  test("leaves the last event to the next page when as many jobs were read as are compared", () => {
    const rows = Array.from({ length: MAX_COMPARED_JOBS }, (_, index) => row(index < 2 ? 1 : 2));
    assert.deepEqual(choose(rows), [[[1, ["a", "a"]]], "1-9999"]);
  });

  for (const [filter, count] of [
    [{ route: "a" }, 1],
    [{ route: "b" }, 0],
    [{ source: "shop", type: "order.paid" }, 1],
    [{ source: "other" }, 0],
    [{ type: "other" }, 0],
    [{ since: NOW, until: NOW + 1 }, 1],
    [{ since: NOW + 1 }, 0],
    [{ until: NOW }, 0],
  ] as const)
    test(`has ${count} of a job with the filter ${JSON.stringify(filter)}`, () =>
      assert.equal(choose([row(1)], filter)[0]?.length, count));
});

test("a replay takes failed jobs; a discard takes those too, and queued ones without an attempt", () => {
  for (const [status, leaseOwner, isReplayed, isDiscarded] of [
    ["failed", null, true, true],
    ["queued", null, false, true],
    ["queued", "a", false, false],
    ["processed", null, false, false],
    ["discarded", null, false, false],
  ] as const) {
    const job = { route: "a", status, leaseOwner };
    assert.deepEqual([isReplayable(job), isDiscardable(job)], [isReplayed, isDiscarded], `${status} ${leaseOwner}`);
  }
});

test("a job is still of its page while it has the status and a route of the page", () => {
  const isFound = (status: "failed" | "queued", routes: string[]) =>
    isStillFound({ route: "a", status, leaseOwner: null }, routes, { status: "failed" });
  assert.deepEqual(
    [isFound("failed", ["a"]), isFound("queued", ["a"]), isFound("failed", ["b"])],
    [true, false, false],
  );
});
