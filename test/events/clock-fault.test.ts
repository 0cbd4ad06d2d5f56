import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { faultOfClock, MADE_AT } from "../../src/events/clock-fault.ts";

const NOW = MADE_AT + 1e10;
const DAY = 86_400_000;

suite("a clock", () => {
  test("is fine without events, and up to a month after the newest one", () => {
    for (const newest of [null, NOW, NOW + 60_000, NOW - 29 * DAY]) assert.equal(faultOfClock(NOW, newest), null);
  });

  test("is wrong before the newest event, or before this version was made", () => {
    const early = faultOfClock(NOW, NOW + 60_001);
    assert.match(early?.found ?? "", /is before the newest event at/);
    const old = faultOfClock(MADE_AT - 1, null);
    assert.match(old?.found ?? "", /is before this version was made/);
    assert.ok(early?.isCertain && old?.isCertain);
  });

  test("may be wrong long after the newest event", () => {
    const fault = faultOfClock(NOW, NOW - 45 * DAY);
    assert.match(fault?.found ?? "", /is 45 days after the newest event/);
    assert.equal(fault?.isCertain, false);
  });
});
