import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { type Asker, createTurns } from "../../../src/worker/transform/turns.ts";

const asker = (source: string, route: string): Asker => ({ source, route });
const HOSTILE = asker("hostile", "a");

/** Takes turns until none waits. One runs until the next one is taken. */
function orderOf(waiting: Asker[]): string[] {
  const turns = createTurns<Asker>();
  for (const one of waiting) turns.add(one, one);
  const order: string[] = [];
  for (let last: Asker[] = []; ; ) {
    const next = turns.next(last);
    if (next === undefined) return order;
    last = [next];
    order.push(`${next.source} ${next.route}`);
  }
}

suite("the turns of transformations", () => {
  test("of one route and source are in order of arrival", () => {
    const turns = createTurns<number>();
    for (const number of [1, 2, 3]) turns.add(HOSTILE, number);
    assert.deepEqual(
      [1, 2, 3, 4].map(() => turns.next([])),
      [1, 2, 3, undefined],
    );
  });

  test("alternate between sources, however many wait of one and for however many routes", () => {
    const many = ["a", "b", "c"].flatMap((route) => [asker("hostile", route), asker("hostile", route)]);
    assert.deepEqual(orderOf([...many, asker("victim", "a"), asker("other", "b")]).slice(0, 4), [
      "hostile a",
      "victim a",
      "other b",
      "hostile b",
    ]);
  });

  test("alternate between the routes of a source", () => {
    assert.deepEqual(orderOf([HOSTILE, HOSTILE, HOSTILE, asker("hostile", "cheap")]).slice(0, 2), [
      "hostile a",
      "hostile cheap",
    ]);
  });

  test("go first to a source of which none runs", () => {
    const turns = createTurns<string>();
    for (const one of [HOSTILE, asker("victim", "a")]) turns.add(one, one.source);
    assert.equal(turns.next([HOSTILE]), "victim");
  });
});
