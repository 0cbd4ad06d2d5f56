import assert from "node:assert/strict";
import { suite, type TestContext, test } from "node:test";
import { MessageChannel } from "node:worker_threads";
import { createAnswering, createRemote, type Together } from "../../src/threads/remote.ts";

/** A remote whose calls are run by `together`; counts the groups that were tried. */
function open(t: TestContext, together: Together) {
  const { port1, port2 } = new MessageChannel();
  t.after(() => port1.close());
  const targets = {
    part: {
      double: (n: number) => 2 * n,
      break: () => {
        throw new Error("a defect");
      },
    },
  };
  let tried = 0;
  createAnswering(targets, (run) => {
    tried++;
    return together(run);
  })(port2);
  const remote = createRemote(port1);
  const call = (method: string) => remote.call("part", method, [21]);
  return { call, tried: () => tried };
}

const runs: Together = (run) => run();
const isBusy: Together = () => {
  throw new Error("another process holds the database");
};

suite("a group of calls", () => {
  test("is run once", async (t) => {
    const { call, tried } = open(t, runs);
    assert.deepEqual(await Promise.all([call("double"), call("double")]), [42, 42]);
    assert.equal(tried(), 1);
  });

  test("in which one fails is undone and each is run again, so that it alone fails", async (t) => {
    const { call, tried } = open(t, runs);
    const ends = await Promise.allSettled([call("double"), call("break"), call("double")]);
    assert.deepEqual(
      ends.map(({ status }) => status),
      ["fulfilled", "rejected", "fulfilled"],
    );
    assert.equal(tried(), 4);
  });

  test("of one that fails is not run again", async (t) => {
    const { call, tried } = open(t, runs);
    await assert.rejects(call("break"), /a defect/);
    assert.equal(tried(), 1);
  });

  test("that cannot begin is waited for once", async (t) => {
    const { call, tried } = open(t, isBusy);
    const ends = await Promise.allSettled([call("double"), call("double")]);
    assert.ok(ends.every(({ status }) => status === "rejected"));
    assert.equal(tried(), 1);
  });
});
