import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { MAX_COMPARED_EVENTS } from "../../src/events/limits.ts";
import { chooseEvents, chooseIds, positionOf } from "../../src/events/purge-choice.ts";
import { DEFAULT_RETENTION } from "../../src/events/retention.ts";
import { NOW } from "../helpers/events.ts";

const DAY = 86_400_000;
const START = positionOf(undefined);
const NO_TOTALS = { processed: 0, processedBytes: 0, failed: 0, failedBytes: 0, databaseBytes: 0, bytesPerEvent: 0 };
const request = { retention: DEFAULT_RETENTION, now: NOW, limit: 2 };
const row = (event: number, days: number) => ({ event, receivedAt: NOW - days * DAY, bytes: 10 });
const page = {
  timeOf: ({ receivedAt }: { receivedAt: number }) => ({ at: Math.min(receivedAt, NOW), isAhead: receivedAt > NOW }),
  jobsOf: (): [] => [],
};
const choose = (rows: ReturnType<typeof row>[], changes = {}, jobsOf: (event: number) => [] | null = page.jobsOf) => {
  const totals = { ...START, totals: NO_TOTALS };
  const { events, next } = chooseEvents(rows, { ...page, jobsOf }, { ...request, ...changes }, totals);
  return { events: events.map(({ event }) => event), next: positionOf(next) };
};

suite("a page of a purge", () => {
  test("removes the expired events, and goes on with the ids at the first young one", () => {
    const { events, next } = choose([row(1, 40), row(2, 20)]);
    assert.deepEqual([events, next.phase, next.after], [[1], "ids", 0]);
  });

  test("ends at its limit, and the next one begins behind it", () => {
    const { events, next } = choose([row(1, 40), row(2, 40), row(3, 40)]);
    assert.deepEqual([events, next.phase, next.after], [[1, 2], "contents", 2]);
  });

  test("removes no event before its fan-out, and none with a time ahead, which does not end it either", () => {
    assert.deepEqual(choose([row(1, 40), row(2, 40)], {}, (event) => (event === 1 ? null : [])).events, [2]);
    assert.deepEqual(choose([row(1, -1), row(2, 40)]).events, [2]);
  });

  test("remembers what a dry run has counted", () =>
    assert.deepEqual(choose([row(1, 40), row(2, 40)], { isDryRun: true }).next.taken.processed, {
      count: 2,
      bytes: 20,
    }));
});

suite("a page of ids", () => {
  const ids = (rows: (ReturnType<typeof row> & { hasContents: boolean })[], changes = {}) =>
    chooseIds(rows, page, { ...request, ...changes }, { ...START, phase: "ids" }, "space");

  test("removes the old ids without contents, then goes on with the next phase", () => {
    const rows = [100, 95, 80].map((days, index) => ({ ...row(index + 1, days), hasContents: index === 1 }));
    const { ids: removed, next } = ids(rows);
    assert.deepEqual([removed, positionOf(next ?? "").phase], [[1], "space"]);
    assert.deepEqual(ids(rows, { isDryRun: true }), {
      ids: [1, 2],
      next: "ids-2-0-0-0-0",
    });
  });

  test("goes on behind the last id while none is young", () => {
    const rows = Array.from({ length: MAX_COMPARED_EVENTS }, (_, index) => ({
      ...row(index + 1, 100),
      hasContents: true,
    }));
    assert.equal(positionOf(ids(rows).next ?? "").after, MAX_COMPARED_EVENTS);
  });
});
