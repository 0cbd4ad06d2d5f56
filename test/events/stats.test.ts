import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { chartOf, createStatCounts, type Stats, slotOf } from "../../src/events/stats.ts";
import { HOUR_MS, MINUTE_MS } from "../../src/lib/durations.ts";

const NOW = 1_800_000_000_000;
const points = (rows: [at: number, outcome: "processed" | "received", slot: number, count: number][]): Stats => ({
  points: rows.map(([at, outcome, slot, count]) => ({ at, outcome, slot, count })),
  sums: [],
});

suite("statistics", () => {
  test("a class of latency is twice as long as the one before", () => {
    const slots = [0, 0.5, 1, 2, 3, 4, 7, 8, 1000, 86_400_000].map(slotOf);
    assert.deepEqual(slots, [1, 1, 2, 3, 3, 4, 4, 5, 11, 28]);
    assert.equal(slotOf(-5), 1, "the clock was set back");
  });

  test("counts of one minute are one row", () => {
    const counts = createStatCounts();
    counts.add({ at: NOW + 1, source: "a", outcome: "received" });
    counts.add({ at: NOW + 2, source: "a", outcome: "received" }, 4);
    counts.add({ at: NOW + 3, source: "a", route: "r", outcome: "processed", latencyMs: 5 });
    assert.deepEqual(counts.rows(), [
      { at: NOW, source: "a", route: "", outcome: "received", slot: 0, count: 5 },
      { at: NOW, source: "a", route: "r", outcome: "processed", slot: 0, count: 1 },
      { at: NOW, source: "a", route: "r", outcome: "processed", slot: 4, count: 1 },
    ]);
  });

  test("a chart has a point for each step, also without counts", () => {
    const range = { since: NOW + 30_000, until: NOW + 3 * MINUTE_MS };
    const chart = chartOf(points([[NOW + MINUTE_MS, "received", 0, 7]]), range, MINUTE_MS);
    assert.deepEqual(
      chart.points.map(({ at, received }) => [at - NOW, received]),
      [
        [0, 0],
        [MINUTE_MS, 7],
        [2 * MINUTE_MS, 0],
      ],
    );
    assert.equal(chart.points[0]?.latency, null);
    assert.equal(chart.total.received, 7);
  });

  test("a longer step has the sums of the shorter ones", () => {
    const day = NOW - (NOW % (24 * HOUR_MS));
    const rows: Parameters<typeof points>[0] = [
      [day + HOUR_MS, "received", 0, 1],
      [day + 2 * HOUR_MS, "received", 0, 2],
    ];
    const chart = chartOf(points(rows), { since: day, until: day + 1 }, 24 * HOUR_MS);
    assert.deepEqual(
      chart.points.map(({ received }) => received),
      [3],
    );
  });

  test("percentiles lie in the class of the event at that place", () => {
    const slow = points([
      [NOW, "processed", slotOf(3), 94],
      [NOW, "processed", slotOf(100), 5],
      [NOW, "processed", slotOf(5000), 1],
      [NOW, "processed", 0, 100],
    ]);
    const { latency } = chartOf(slow, { since: NOW, until: NOW + 1 }, MINUTE_MS).total;
    assert.deepEqual(latency, { p50: 3, p95: 77, p99: 128 });
  });

  test("sums are by source and route", () => {
    const sums: Stats["sums"] = [
      { source: "a", route: "", outcome: "received", count: 3 },
      { source: "a", route: "r", outcome: "processed", count: 2 },
      { source: "a", route: "r", outcome: "retried", count: 1 },
    ];
    const chart = chartOf({ points: [], sums }, { since: NOW, until: NOW }, MINUTE_MS);
    assert.deepEqual(
      chart.sums.map(({ source, route, received, processed, retried }) => [
        source,
        route,
        received,
        processed,
        retried,
      ]),
      [
        ["a", "", 3, 0, 0],
        ["a", "r", 0, 2, 1],
      ],
    );
  });
});
