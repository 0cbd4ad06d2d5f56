import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { createLane } from "../../src/auth/lane.ts";
import { failsWith } from "../helpers/fails-with.ts";

const turn = () => new Promise(setImmediate);

suite("a lane", () => {
  test("runs no more tasks at once than it is wide", async () => {
    const lane = createLane(2, 100);
    let running = 0;
    let most = 0;
    const task = async () => {
      most = Math.max(most, ++running);
      await turn();
      running--;
    };
    await Promise.all(Array.from({ length: 20 }, () => lane.run(task)));
    assert.equal(most, 2);
  });

  test("runs what waits in order of arrival", async () => {
    const lane = createLane(1, 100);
    const order: number[] = [];
    await Promise.all([1, 2, 3, 4, 5].map((n) => lane.run(async () => void order.push(n))));
    assert.deepEqual(order, [1, 2, 3, 4, 5]);
  });

  test("gives each caller its own result", async () => {
    const lane = createLane(2, 100);
    assert.deepEqual(await Promise.all([1, 2, 3].map((n) => lane.run(async () => n * 2))), [2, 4, 6]);
  });

  test("refuses at once, with a time to come back, what its queue cannot hold", async () => {
    const lane = createLane(1, 2);
    const gate = Promise.withResolvers<void>();
    const held = [lane.run(() => gate.promise), lane.run(() => gate.promise), lane.run(() => gate.promise)];
    let ran = false;
    const error = await failsWith(
      "login_busy",
      lane.run(async () => {
        ran = true;
      }),
    );
    assert.equal(error.retryAfterSeconds, 1);
    assert.equal(ran, false);
    gate.resolve();
    await Promise.all(held);
    assert.equal(await lane.run(async () => "again"), "again");
  });

  test("gives the place of a task that fails to the next one", async () => {
    const lane = createLane(1, 10);
    const failing = lane.run(async () => {
      throw new Error("no");
    });
    const next = lane.run(async () => "yes");
    await assert.rejects(failing, /no/);
    assert.equal(await next, "yes");
    assert.equal(await lane.run(async () => "and again"), "and again");
  });
});
