import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { createBatcher, createBatches } from "../../src/lib/batch.ts";
import { until } from "../helpers/until.ts";

/** A batcher whose batches end when the test says so. */
function gated() {
  const batches: { items: number[]; gate: PromiseWithResolvers<number[]> }[] = [];
  const batcher = createBatcher((items: number[]) => {
    const gate = Promise.withResolvers<number[]>();
    batches.push({ items, gate });
    return gate.promise;
  });
  const started = async (count: number) => {
    await until(() => batches.length >= count);
    const batch = batches[count - 1];
    assert.ok(batch);
    return batch;
  };
  return { batcher, batches, started };
}

suite("a batcher", () => {
  test("puts what arrives together into one batch, and what arrives during it into the next", async () => {
    const { batcher, batches, started } = gated();
    const first = [batcher.add(1), batcher.add(2), batcher.add(3)];
    const running = await started(1);
    assert.deepEqual(running.items, [1, 2, 3]);
    const second = [batcher.add(4), batcher.add(5)];
    assert.equal(batches.length, 1);
    running.gate.resolve([10, 20, 30]);
    assert.deepEqual(await Promise.all(first), [10, 20, 30]);
    const next = await started(2);
    assert.deepEqual(next.items, [4, 5]);
    next.gate.resolve([40, 50]);
    assert.deepEqual(await Promise.all(second), [40, 50]);
  });

  test("rejects all items of a failed batch, and no others", async () => {
    const { batcher, started } = gated();
    const failing = [batcher.add(1), batcher.add(2)];
    const running = await started(1);
    const later = batcher.add(3);
    running.gate.reject(new Error("disk full"));
    const outcomes = await Promise.allSettled(failing);
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ["rejected", "rejected"],
    );
    (await started(2)).gate.resolve([30]);
    assert.equal(await later, 30);
  });

  test("goes on after a function that throws before it returns a promise", async () => {
    let broken = true;
    const batcher = createBatcher((items: number[]) => {
      if (broken) throw new Error("at once");
      return Promise.resolve(items);
    });
    await assert.rejects(batcher.add(1), /at once/);
    broken = false;
    assert.equal(await batcher.add(2), 2);
  });

  test("flushes when no item waits and no batch runs", async () => {
    const { batcher, started } = gated();
    await batcher.flush();
    const results = [batcher.add(1)];
    const running = await started(1);
    results.push(batcher.add(2));
    let flushed = false;
    const flush = batcher.flush().then(() => {
      flushed = true;
    });
    running.gate.resolve([1]);
    const next = await started(2);
    assert.equal(flushed, false);
    next.gate.resolve([2]);
    await flush;
    assert.deepEqual(await Promise.all(results), [1, 2]);
  });

  test("flushes after a failed batch too", async () => {
    const { batcher, started } = gated();
    const failing = batcher.add(1);
    const running = await started(1);
    const flush = batcher.flush();
    running.gate.reject(new Error("no"));
    await assert.rejects(failing, /no/);
    await flush;
  });
});

suite("batches", () => {
  test("start within a turn once they have enough items, up to the number that may run at once", async () => {
    const gates: { items: number[]; end: () => void }[] = [];
    const batches = createBatches<number>(
      (items) => {
        const { promise, resolve } = Promise.withResolvers<void>();
        gates.push({ items, end: resolve });
        return promise;
      },
      { width: 2, enough: 2 },
    );
    const started = () => gates.map(({ items }) => items);
    for (const item of [1, 2, 3, 4, 5, 6, 7]) batches.add(item);
    assert.deepEqual(started(), [
      [1, 2],
      [3, 4],
    ]);
    await new Promise(setImmediate);
    assert.deepEqual(batches.waiting, [5, 6, 7]);
    gates[0]?.end();
    await until(() => gates.length === 3);
    assert.deepEqual(gates[2]?.items, [5, 6, 7]);
    let isIdle = false;
    const flushed = batches.flush().then(() => {
      isIdle = true;
    });
    gates[1]?.end();
    await new Promise(setImmediate);
    assert.equal(isIdle, false);
    gates[2]?.end();
    await flushed;
  });

  test("with fewer items start at the end of the turn", async () => {
    const started: number[][] = [];
    const batches = createBatches<number>(
      async (items) => {
        started.push(items);
      },
      { enough: 3 },
    );
    batches.add(1);
    batches.add(2);
    assert.deepEqual(started, []);
    await batches.flush();
    assert.deepEqual(started, [[1, 2]]);
  });
});
