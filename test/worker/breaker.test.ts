import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { type AttemptKind, type Breaker, createBreaker } from "../../src/worker/breaker.ts";

const NOW = 1_800_000_000_000;

/** Makes attempts that find the target unavailable. */
function fail(breaker: Breaker, times: number, now = NOW): void {
  for (let n = 0; n < times; n++) {
    const kind = breaker.begin(now);
    assert.ok(kind);
    breaker.end(kind, false, now, { route: "r" });
  }
}

/** A breaker that has just opened, and its reported changes. */
function opened() {
  const changes: boolean[] = [];
  const breaker = createBreaker((isOpen) => changes.push(isOpen));
  fail(breaker, 5);
  return { breaker, changes };
}

suite("a breaker", () => {
  test("opens after five failures in a row", () => {
    const breaker = createBreaker();
    fail(breaker, 4);
    assert.equal(breaker.allowedAttempts(NOW), Number.POSITIVE_INFINITY);
    breaker.end("attempt", true, NOW, { route: "r" });
    fail(breaker, 4);
    assert.equal(breaker.begin(NOW), "attempt");
    breaker.end("attempt", false, NOW, { route: "r" });
    assert.deepEqual([breaker.allowedAttempts(NOW), breaker.begin(NOW)], [0, null]);
  });

  test("lets a probe through at once when it is asked to, and tells since when it is open", () => {
    const { breaker } = opened();
    assert.equal(breaker.openSince(), NOW);
    breaker.probeNow(NOW + 10);
    assert.equal(breaker.begin(NOW + 10), "probe");
    breaker.end("probe", false, NOW + 20, { route: "r" });
    assert.deepEqual([breaker.openSince(), breaker.probeAt()], [NOW, NOW + 2020]);
  });

  test("lets one probe at a time through after a second", () => {
    const { breaker } = opened();
    assert.equal(breaker.probeAt(), NOW + 1000);
    assert.equal(breaker.begin(NOW + 999), null);
    assert.equal(breaker.allowedAttempts(NOW + 1000), 1);
    assert.equal(breaker.begin(NOW + 1000), "probe");
    assert.deepEqual(
      [breaker.allowedAttempts(NOW + 5000), breaker.begin(NOW + 5000), breaker.probeAt()],
      [0, null, null],
    );
  });

  test("doubles the wait after each failed probe, up to 30 seconds", () => {
    const { breaker } = opened();
    const waits: number[] = [];
    for (let now = NOW; waits.length < 7; ) {
      const at = breaker.probeAt() as number;
      waits.push(at - now);
      now = at;
      fail(breaker, 1, now);
    }
    assert.deepEqual(waits, [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
  });

  test("closes after a successful probe and then needs five failures again", () => {
    const { breaker, changes } = opened();
    breaker.end(breaker.begin(NOW + 1000) as AttemptKind, true, NOW + 1000, { route: "r" });
    assert.deepEqual([breaker.allowedAttempts(NOW + 1000), breaker.probeAt()], [Number.POSITIVE_INFINITY, null]);
    fail(breaker, 4, NOW + 1000);
    assert.equal(breaker.begin(NOW + 1000), "attempt");
    assert.deepEqual(changes, [true, false]);
  });

  test("closes when an earlier attempt succeeds; a failed one does not prolong the wait", () => {
    const { breaker } = opened();
    breaker.end("attempt", false, NOW + 500, { route: "r" });
    assert.equal(breaker.probeAt(), NOW + 1000);
    breaker.end("attempt", true, NOW + 500, { route: "r" });
    assert.equal(breaker.begin(NOW + 500), "attempt");
  });

  test("leaves a target alone for as long as it asks, but at most a day", () => {
    const answered = (breaker: Breaker, retryAfterMs: number, now: number) => {
      const kind = breaker.begin(now) as AttemptKind;
      breaker.end(kind, false, now, { route: "r", retryAfterMs });
      return breaker.probeAt();
    };
    const breaker = createBreaker();
    fail(breaker, 4);
    assert.equal(answered(breaker, 120_000, NOW), NOW + 120_000);
    breaker.end("attempt", false, NOW + 500, { route: "r", retryAfterMs: 180_000 });
    assert.equal(breaker.probeAt(), NOW + 180_500);
    assert.equal(answered(breaker, 100, NOW + 180_500), NOW + 182_500);
    assert.equal(answered(breaker, 10 * 86_400_000, NOW + 182_500), NOW + 182_500 + 86_400_000);
  });

  test("names the route whose attempt has opened or closed it", () => {
    const routes: string[] = [];
    const breaker = createBreaker((_, route) => routes.push(route));
    fail(breaker, 4);
    breaker.end("attempt", false, NOW, { route: "opened" });
    breaker.end("attempt", true, NOW, { route: "closed" });
    assert.deepEqual(routes, ["opened", "closed"]);
  });

  test("probes again after a probe without a result", () => {
    const { breaker } = opened();
    breaker.cancel(breaker.begin(NOW + 1000) as AttemptKind);
    assert.equal(breaker.begin(NOW + 1000), "probe");
  });
});
