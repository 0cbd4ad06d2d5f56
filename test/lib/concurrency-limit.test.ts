import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { createConcurrencyLimit } from "../../src/lib/concurrency-limit.ts";
import { failsWith } from "../helpers/fails-with.ts";

const turn = () => new Promise(setImmediate);

suite("a concurrency limit", () => {
  test("runs no more tasks at once than its width", async () => {
    const limit = createConcurrencyLimit({ width: 2, queueLimit: 100 });
    let running = 0;
    let most = 0;
    const task = async () => {
      most = Math.max(most, ++running);
      await turn();
      running--;
    };
    await Promise.all(Array.from({ length: 20 }, () => limit.run(task)));
    assert.equal(most, 2);
  });

  test("runs waiting tasks in order of arrival", async () => {
    const limit = createConcurrencyLimit({ width: 1, queueLimit: 100 });
    const order: number[] = [];
    await Promise.all([1, 2, 3, 4, 5].map((n) => limit.run(async () => void order.push(n))));
    assert.deepEqual(order, [1, 2, 3, 4, 5]);
  });

  test("gives each caller its own result", async () => {
    const limit = createConcurrencyLimit({ width: 2, queueLimit: 100 });
    assert.deepEqual(await Promise.all([1, 2, 3].map((n) => limit.run(async () => n * 2))), [2, 4, 6]);
  });

  test("refuses at once, with Retry-After, tasks that exceed its queue", async () => {
    const limit = createConcurrencyLimit({ width: 1, queueLimit: 2 });
    const gate = Promise.withResolvers<void>();
    const held = [limit.run(() => gate.promise), limit.run(() => gate.promise), limit.run(() => gate.promise)];
    let ran = false;
    const error = await failsWith(
      "login_busy",
      limit.run(async () => {
        ran = true;
      }),
    );
    assert.equal(error.retryAfterSeconds, 1);
    assert.equal(ran, false);
    gate.resolve();
    await Promise.all(held);
    assert.equal(await limit.run(async () => "again"), "again");
  });

  test("passes the place of a failed task to the next one", async () => {
    const limit = createConcurrencyLimit({ width: 1, queueLimit: 10 });
    const failing = limit.run(async () => {
      throw new Error("no");
    });
    const next = limit.run(async () => "yes");
    await assert.rejects(failing, /no/);
    assert.equal(await next, "yes");
    assert.equal(await limit.run(async () => "and again"), "and again");
  });

  test("runs preferred tasks first, and keeps a queue for them", async () => {
    const limit = createConcurrencyLimit({ width: 1, queueLimit: 2 });
    const gate = Promise.withResolvers<void>();
    const order: string[] = [];
    const add = (name: string, isPreferred: boolean) =>
      limit.run(async () => void order.push(name), { isPreferred, sender: "a" });
    const held = limit.run(() => gate.promise);
    const waiting = [add("first", false), add("second", false)];
    await failsWith("login_busy", add("third", false));
    waiting.push(add("owner", true), add("owner again", true));
    await failsWith("login_busy", add("owner once more", true));
    gate.resolve();
    await Promise.all([held, ...waiting]);
    assert.deepEqual(order, ["owner", "owner again", "first", "second"]);
  });

  test("limits the share of a sender in a queue, counting only waiting tasks", async () => {
    const limit = createConcurrencyLimit({ width: 1, queueLimit: 3, queueLimitPerSender: 2 });
    for (const isPreferred of [false, false, true, true]) {
      const add = (sender: string, task = async () => sender) => limit.run(task, { isPreferred, sender });
      const gate = Promise.withResolvers<string>();
      const held = add("a", () => gate.promise);
      const waiting = [add("a"), add("a")];
      await failsWith("login_busy", add("a"));
      waiting.push(add("b"));
      await failsWith("login_busy", add("c"));
      gate.resolve("held");
      assert.deepEqual(await Promise.all([held, ...waiting]), ["held", "a", "a", "b"]);
    }
  });
});
