import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { type AlertSample, attemptsWithin, isGrowing, type Samples, withSample } from "../../src/alerts/samples.ts";
import { minuteOf, type RouteAttempts } from "../../src/events/stats.ts";

// The beginning of a minute.
const NOW = 1_800_000_000_000;
const MINUTE = 60_000;
const EVERY = 5000;

const sample = (at: number, queued = 0, attempts: RouteAttempts[] = []): AlertSample => ({ at, queued, attempts });

/** Measurements of the queue, 5 seconds apart. */
const queueOf = (...counts: number[]): Samples => counts.map((queued, n) => sample(NOW + n * EVERY, queued));

suite("samples", () => {
  test("are kept for the window, with one that is older", () => {
    let samples: Samples = [];
    for (let n = 0; n < 10; n++) samples = withSample(samples, sample(NOW + n * EVERY), 12_000);
    assert.deepEqual(
      samples.map(({ at }) => (at - NOW) / EVERY),
      [6, 7, 8, 9],
    );
    samples = withSample(samples, sample(NOW + 10 * EVERY), 15_000);
    assert.equal(samples[0]?.at, NOW + 7 * EVERY, "one at the beginning of the window is old enough");
  });

  test("after the clock was set back, are only those before it", () => {
    const samples = withSample(queueOf(1, 2, 3, 4), sample(NOW + EVERY, 9), MINUTE);
    assert.deepEqual(
      samples.map(({ at, queued }) => [at - NOW, queued]),
      [
        [0, 1],
        [EVERY, 9],
      ],
    );
  });

  test("keep the attempts of their own minute only, because a day of minutes in each of them would fill the memory", () => {
    const rows = [-2, -1, 0].map((n) => ({ at: NOW + n * MINUTE, route: "a", failed: 0, all: 1 }));
    const [kept] = withSample([], sample(NOW + 1000, 0, rows), 0);
    assert.deepEqual(kept?.attempts, rows.slice(2));
  });
});

suite("a queue", () => {
  const MINUTE_OF_SAMPLES = 13;
  const counts = (count: (n: number) => number) => Array.from({ length: MINUTE_OF_SAMPLES }, (_, n) => count(n));

  test("that was not measured for the whole window is unknown", () => {
    assert.equal(isGrowing([], MINUTE), null);
    assert.equal(isGrowing(queueOf(...counts((n) => n).slice(1)), MINUTE), null);
    assert.equal(isGrowing(queueOf(...counts((n) => n)), MINUTE), true);
  });

  for (const [what, count] of [
    ["steadily", (n) => 100 + n],
    ["with small ups and downs", (n) => 10 * n + (n % 2) * 15],
    ["from nothing", (n) => n * n],
  ] satisfies [string, (n: number) => number][]) {
    test(`that grows ${what} is growing`, () => assert.equal(isGrowing(queueOf(...counts(count)), MINUTE), true));
  }

  for (const [what, count] of [
    ["is empty", () => 0],
    ["is long and stays as it is", () => 1000],
    ["shrinks", (n) => 100 - n],
    ["goes up and down", (n) => 100 + (n % 2) * 50],
    ["has grown, and is being worked off", (n) => (n < 8 ? 10 * n : 80 - 10 * (n - 8))],
    ["has grown, and no longer does", (n) => Math.min(5, n)],
    ["had one peak", (n) => (n === 6 ? 500 : 3)],
  ] satisfies [string, (n: number) => number][]) {
    test(`that ${what} is not growing`, () => assert.equal(isGrowing(queueOf(...counts(count)), MINUTE), false));
  }

  test("is compared within the window only", () => {
    assert.equal(isGrowing(queueOf(900, 800, 1, 2, 3), 2 * EVERY), true);
    assert.equal(isGrowing(queueOf(1, 2, 3, 3, 3), 2 * EVERY), false);
  });

  test("is compared between two measurements if the window is short", () => {
    assert.equal(isGrowing(queueOf(1, 2), 1000), true);
    assert.equal(isGrowing(queueOf(2, 2), 1000), false);
    assert.equal(isGrowing(queueOf(2, 1), 1000), false);
    assert.equal(isGrowing(queueOf(1), 1000), null);
  });
});

suite("the attempts in a window", () => {
  const row = (at: number, failed: number, all: number, route = "a"): RouteAttempts => ({ at, route, failed, all });

  test("are summed by route, without earlier minutes", () => {
    const attempts = [row(NOW - MINUTE, 9, 9), row(NOW, 1, 2), row(NOW, 0, 4, "b"), row(NOW + MINUTE, 2, 3)];
    assert.deepEqual(attemptsWithin([], attempts, NOW), [
      { route: "a", failed: 3, all: 5 },
      { route: "b", failed: 0, all: 4 },
    ]);
  });

  test("leave out what the last sample before the window had in the first minute", () => {
    const samples = [
      sample(NOW + 20_000, 0, [row(NOW - MINUTE, 7, 7), row(NOW, 1, 1)]),
      sample(NOW + 25_000, 0, [row(NOW - MINUTE, 7, 7), row(NOW, 3, 5)]),
      sample(NOW + 35_000, 0, [row(NOW, 4, 9)]),
    ];
    const attempts = [row(NOW, 4, 10), row(NOW, 2, 2, "b"), row(NOW + MINUTE, 1, 1)];
    assert.deepEqual(attemptsWithin(samples, attempts, NOW + 30_000), [
      { route: "a", failed: 2, all: 6 },
      { route: "b", failed: 2, all: 2 },
    ]);
  });

  test("have all of the first minute without a sample of it", () => {
    const before = sample(NOW - 1000, 0, [row(NOW - MINUTE, 5, 5)]);
    const after = sample(NOW + 31_000, 0, [row(NOW, 4, 4)]);
    assert.deepEqual(attemptsWithin([before, after], [row(NOW, 4, 4)], NOW + 30_000), [
      { route: "a", failed: 4, all: 4 },
    ]);
  });

  for (const windowMs of [10_000, 30_000, MINUTE, 90_000, 5 * MINUTE]) {
    test(`are exact for ${windowMs / 1000} s once it has been measured for so long`, () => {
      /** One attempt a second, of which every fifth fails, as the store counts them. */
      const attemptsAt = (now: number): RouteAttempts[] => {
        const ends = Array.from({ length: (now - NOW) / 1000 }, (_, n) => NOW + n * 1000);
        return [...Map.groupBy(ends, minuteOf)].map(([at, own]) =>
          row(at, own.filter((end) => end % 5000 === 0).length, own.length),
        );
      };
      let samples: Samples = [];
      for (let now = NOW; now <= NOW + 10 * MINUTE; now += EVERY) {
        samples = withSample(samples, sample(now, 0, attemptsAt(now)), windowMs);
        if (now < NOW + windowMs) continue;
        const expected = [{ route: "a", failed: windowMs / 5000, all: windowMs / 1000 }];
        assert.deepEqual(attemptsWithin(samples, attemptsAt(now), now - windowMs), expected, `${now - NOW}`);
      }
    });
  }
});
