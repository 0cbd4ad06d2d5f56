import assert from "node:assert/strict";
import { test } from "node:test";
import { getHeapSpaceStatistics } from "node:v8";
import { takeCollector } from "../src/garbage-collection.ts";
import { Slots } from "../src/slots.ts";

test("an item is taken out of its slot once", () => {
  const slots = new Slots<string>();
  const first = slots.put("first");
  const second = slots.put("second");
  assert.notEqual(first, second);
  assert.equal(slots.take(first), "first");
  assert.equal(slots.take(first), undefined);
  assert.equal(slots.take(99), undefined);
  assert.deepEqual([...slots], ["second"]);
  assert.equal(slots.size, 1);
});

test("a slot is used again, and by one item at a time", () => {
  const slots = new Slots<number>();
  const taken = new Map<number, number>();
  let most = 0;
  let seed = 1;
  for (let item = 0; item < 2000; item++) {
    seed = (seed * 48_271) % 2_147_483_647;
    if (taken.size > 0 && seed % 2 === 0) {
      const [slot, expected] = [...taken][seed % taken.size] as [number, number];
      assert.equal(slots.take(slot), expected);
      taken.delete(slot);
    } else {
      const slot = slots.put(item);
      most = Math.max(most, taken.size + 1);
      assert.ok(!taken.has(slot) && slot < most, `slot ${slot}`);
      taken.set(slot, item);
    }
    assert.equal(slots.size, taken.size);
  }
  assert.deepEqual([...slots].sort(), [...taken.values()].sort());
});

test("what is put in while the items are read does not show up among them", () => {
  const slots = new Slots<string>();
  slots.put("a");
  slots.put("b");
  const seen: string[] = [];
  for (const item of slots) {
    seen.push(item);
    slots.put(`${item}, again`);
  }
  assert.deepEqual(seen, ["a", "b"]);
});

test("nothing that has been taken out grows old, where it would with a Set", () => {
  const slots = new Slots<unknown>();
  const set = new Set<unknown>();
  const ofSlots = megabytesGrownOld((item) => {
    const slot = slots.put(item);
    return () => slots.take(slot);
  });
  const ofSet = megabytesGrownOld((item) => {
    set.add(item);
    return () => set.delete(item);
  });
  assert.ok(ofSlots < 0.5, `${ofSlots} MB`);
  // If this fails, V8 does better now, and a Set would do.
  assert.ok(ofSet > 10, `${ofSet} MB`);
});

/**
 * Lets 36 MB pass through a collection that has grown old itself, five items at a time, and returns what became old of
 * it, also when a full collection, which V8 may begin whenever it likes, has taken some of that away again.
 */
function megabytesGrownOld(put: (item: unknown) => () => void): number {
  const collect = takeCollector();
  const waiting: (() => void)[] = [];
  const pass = () => {
    for (let count = 0; count < 2000; count++) {
      waiting.push(put(new Array(100).fill(count)));
      if (waiting.length === 5) waiting.shift()?.();
    }
  };
  pass();
  collect({ type: "major", execution: "sync" });
  collect({ type: "major", execution: "sync" });
  let grown = 0;
  let before = oldBytes();
  for (let round = 0; round < 20; round++) {
    pass();
    collect({ type: "minor", execution: "sync" });
    const after = oldBytes();
    grown += Math.max(0, after - before);
    before = after;
  }
  return grown / 1e6;
}

function oldBytes(): number {
  const old = getHeapSpaceStatistics().find(({ space_name: name }) => name === "old_space");
  return old?.space_used_size ?? 0;
}
