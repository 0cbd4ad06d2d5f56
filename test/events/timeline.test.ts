import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { createTimeline, type TimesAround } from "../../src/events/timeline.ts";
import { type WrongTime, withNote } from "../../src/events/wrong-clock.ts";

const NOW = 1000;

const timesOf = (times: number[], around: Partial<TimesAround> = {}, wrong: WrongTime[] = []) => {
  const timeOf = createTimeline({ earlier: null, later: null, ...around }, wrong, NOW);
  return times
    .map((receivedAt, index) => timeOf({ event: index + 1, receivedAt }))
    .map(({ at, isAhead }) => (isAhead ? "ahead" : at));
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

  test("are when the clock was set right for those that came while it was behind, and now while it still is", () => {
    const wrong = { after: 1, until: 3, setRightAt: 700 };
    assert.deepEqual(timesOf([500, 1, 2, 800], {}, [wrong]), [500, 700, 700, 800]);
    assert.deepEqual(timesOf([500, 1, 600], {}, [{ after: 1, until: null, setRightAt: null }]), [
      500,
      "ahead",
      "ahead",
    ]);
  });
});

suite("what is noted of a clock", () => {
  const note = (times: readonly WrongTime[], isBehind: boolean, newest: number, more = {}) =>
    withNote(times, { now: NOW, isBehind, ...more }, newest);

  test("is nothing while it is right, and else since when it was behind until it is set right", () => {
    assert.deepEqual(note([], false, 5), []);
    const open = note([], true, 5);
    assert.deepEqual(note(open, true, 7), [{ after: 5, until: null, setRightAt: null }]);
    assert.deepEqual(note(open, false, 9, { wasBehindAfter: 7 }), [{ after: 5, until: 9, setRightAt: NOW }]);
  });

  test("is a jump of a running server with the events before it", () => {
    assert.deepEqual(note([], false, 9, { wasBehindAfter: 7 }), [{ after: 7, until: 9, setRightAt: NOW }]);
    assert.deepEqual(note([], false, 7, { wasBehindAfter: 7 }), []);
  });
});
