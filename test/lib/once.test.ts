import assert from "node:assert/strict";
import { test } from "node:test";
import { once } from "../../src/lib/once.ts";

test("concurrent calls share one run of the step, which is retried after a failure and never after success", async () => {
  const tries = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let begun = 0;
  const done = once(async () => await tries[begun++]?.promise);
  const both = Promise.allSettled([done(), done()]);
  assert.equal(begun, 1);
  tries[0]?.reject(new Error("no"));
  assert.deepEqual(
    (await both).map(({ status }) => status),
    ["rejected", "rejected"],
  );

  const second = done();
  tries[1]?.resolve();
  await second;
  assert.equal(done(), undefined);
  assert.equal(begun, 2);
});
