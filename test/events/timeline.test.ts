import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { createTimeline, type TimesAround } from "../../src/events/timeline.ts";

const NOW = 1000;

const timesOf = (times: number[], around: Partial<TimesAround> = {}) => {
  const timeOf = createTimeline({ earlier: null, later: null, ...around }, NOW);
  return times.map((time) => timeOf(time)).map(({ at, isAhead }) => (isAhead ? "ahead" : at));
};

suite("the times of events", () => {
  test("are those of their receipt", () => {
    assert.deepEqual(timesOf([1, 2, 1000]), [1, 2, 1000]);
  });

  test("count as now when they are ahead of now, or of much later events", () => {
    assert.deepEqual(timesOf([1, 5000, 2]), [1, "ahead", 2]);
    assert.deepEqual(timesOf([1, 900, 2], { later: 10 }), [1, "ahead", 2]);
  });

  test("are not before those of earlier events, unless these were ahead", () => {
    assert.deepEqual(timesOf([500, 1, 501]), [500, 500, 501]);
    assert.deepEqual(timesOf([1, 501], { earlier: 500 }), [500, 501]);
    assert.deepEqual(timesOf([1, 501], { earlier: 5000 }), [1, 501]);
  });
});
