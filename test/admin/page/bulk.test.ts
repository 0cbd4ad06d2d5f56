import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { runSteps, type Step, selectionsOf } from "../../../src/admin/page/bulk.ts";
import { readGroups } from "../../../src/admin/page/error-groups.ts";

suite("a replay or discard of many", () => {
  test("goes on with each cursor, and adds up what was taken", async () => {
    const cursors: (string | undefined)[] = [];
    const step: Step = async (cursor) => {
      cursors.push(cursor);
      const isLast = cursors.length === 3;
      const refused = isLast ? [{ eventId: "evt_1", reason: "is queued" }] : [];
      return { matched: 10, refused, cursor: isLast ? null : `c${cursors.length}` };
    };
    const told: number[] = [];
    const result = await runSteps([step], new AbortController().signal, ({ matched }) => told.push(matched));
    assert.deepEqual(cursors, [undefined, "c1", "c2"]);
    assert.deepEqual(told, [10, 20, 30]);
    assert.deepEqual(result, { matched: 30, refused: [{ eventId: "evt_1", reason: "is queued" }] });
  });

  test("sends nothing more once it is stopped", async () => {
    const abort = new AbortController();
    let requests = 0;
    const step: Step = async () => {
      requests++;
      abort.abort();
      return { matched: 1, refused: [], cursor: "c" };
    };
    await assert.rejects(
      runSteps([step, step], abort.signal, () => {}),
      { name: "AbortError" },
    );
    assert.equal(requests, 1);
  });

  test("names the chosen events by source, at most 50 in a request", () => {
    const events = Array.from({ length: 120 }, (_, index) => ({
      source: index % 2 ? "shop" : "bank",
      eventId: `${index}`,
    }));
    const selections = selectionsOf(events);
    assert.deepEqual(
      selections.map(({ source, ids }) => [source, ids.length]),
      [
        ["bank", 50],
        ["bank", 10],
        ["shop", 50],
        ["shop", 10],
      ],
    );
  });
});

test("groups of dead letters are read page by page, and added up", async () => {
  const group = { route: "crm", error: "timeout", source: "shop" };
  const early = {
    ...{ ...group, count: 2, oldestAt: "2026-01-01", newestAt: "2026-01-02", eventId: "a" },
    ...{
      firstFailedAt: "2026-01-05",
      lastFailedAt: "2026-01-06",
      sources: { shop: 2 },
      types: { paid: 2 },
      trend: [1, 1],
    },
  };
  const late = {
    ...{ ...group, count: 3, oldestAt: "2026-01-03", newestAt: "2026-01-04", eventId: "b" },
    ...{
      firstFailedAt: "2026-01-04",
      lastFailedAt: "2026-01-05",
      sources: { shop: 3 },
      types: { sent: 3 },
      trend: [0, 3],
    },
  };
  const other = { ...late, route: "archive", count: 9 };
  const groups = await readGroups(async (cursor) =>
    cursor === undefined ? { items: [early], cursor: "c" } : { items: [late, other], cursor: null },
  );
  assert.deepEqual(groups, [
    other,
    {
      ...{ ...group, count: 5, oldestAt: "2026-01-01", newestAt: "2026-01-04", eventId: "b" },
      ...{ firstFailedAt: "2026-01-04", lastFailedAt: "2026-01-06", sources: { shop: 5 } },
      ...{ types: { paid: 2, sent: 3 }, trend: [1, 4] },
    },
  ]);
});
