import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { createPurgeRule, DEFAULT_RETENTION, type Retention, type StoredTotals } from "../../src/events/retention.ts";

const NOW = 1_800_000_000_000;
const DAY = 86_400_000;

function ruleOf(retention: Partial<Retention>, totals: Partial<StoredTotals> = {}) {
  const none = { count: 0, bytes: 0 };
  return createPurgeRule(
    { ...DEFAULT_RETENTION, ...retention },
    { processed: none, failed: none, databaseBytes: 0, bytesPerEvent: 400, ...totals },
    NOW,
  );
}

const eventOf = (status: "queued" | "processed" | "failed", days = 0, bytes = 100) => ({
  status,
  endedAt: NOW - days * DAY,
  bytes,
});

suite("the rule of a purge", () => {
  test("takes processed events after 30 days and failed ones after 90, and never queued ones", () => {
    const rule = ruleOf({});
    assert.deepEqual(
      [29, 30].map((days) => rule.takes(eventOf("processed", days))),
      [false, true],
    );
    assert.deepEqual(
      [89, 90].map((days) => rule.takes(eventOf("failed", days))),
      [false, true],
    );
    assert.equal(rule.takes(eventOf("queued", 1000)), false);
  });

  test("is done at the first event that is too young, unless a limit is exceeded", () => {
    const at = (days: number) => NOW - days * DAY;
    const rule = ruleOf({});
    assert.deepEqual([rule.isDoneAt(at(30)), rule.isDoneAt(at(29))], [false, true]);
    const keep = { ...DEFAULT_RETENTION.processed, count: 1 };
    const over = ruleOf({ processed: keep }, { processed: { count: 2, bytes: 0 } });
    assert.equal(over.isDoneAt(NOW), false);
    assert.equal(over.takes(eventOf("processed")), true);
    assert.equal(over.isDoneAt(NOW), true);
  });

  test("takes failed events for the size of the database only if all processed ones are not enough", () => {
    const totals = { processed: { count: 2, bytes: 2000 }, failed: { count: 1, bytes: 1000 } };
    const little = ruleOf({ maxBytes: 9000 }, { ...totals, databaseBytes: 10_000 });
    assert.deepEqual(
      [eventOf("failed", 0, 1000), eventOf("processed", 0, 1000), eventOf("processed", 0, 1000)].map(little.takes),
      [false, true, false],
    );
    const much = ruleOf({ maxBytes: 5000 }, { ...totals, databaseBytes: 10_000 });
    assert.deepEqual(
      [eventOf("failed", 0, 1000), eventOf("processed", 0, 1000), eventOf("queued", 0, 1000)].map(much.takes),
      [true, true, false],
    );
  });

  test("counts for each event what its driver stores beside the payload", () => {
    const totals = { processed: { count: 5, bytes: 500 }, databaseBytes: 4100 };
    const takenOf = (bytesPerEvent: number) => {
      const rule = ruleOf({ maxBytes: 2000 }, { ...totals, bytesPerEvent });
      return [1, 2, 3, 4, 5].filter(() => rule.takes(eventOf("processed"))).length;
    };
    // 2100 bytes are too many. An event frees 500 of them on SQLite, and 700 on PostgreSQL.
    assert.deepEqual([takenOf(400), takenOf(600)], [5, 3]);
  });
});
