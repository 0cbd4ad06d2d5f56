import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { setImmediate as settled } from "node:timers/promises";
import { createMembership, type Membership } from "../../src/nodes/membership.ts";
import { DEAD_AFTER_MS, type NodeStore } from "../../src/nodes/store.ts";
import { recordingLog } from "../helpers/log.ts";

/** A registry of servers by a clock that the test moves. */
function createRegistry() {
  const seen = new Map<string, number>();
  const clock = { now: 1_000_000 };
  const unreachable = new Set<string>();
  const store: NodeStore = {
    async beat({ node: { id } }) {
      if (unreachable.has(id)) throw new Error("no answer");
      seen.set(id, clock.now);
      return [...seen.values()].filter((at) => at > clock.now - DEAD_AFTER_MS).length;
    },
    leave: async (id) => void seen.delete(id),
    list: async () => [],
  };
  return { store, clock, unreachable };
}

type Timers = Pick<typeof import("node:test").mock.timers, "enable" | "tick">;

function createCluster(timers: Timers) {
  timers.enable({ apis: ["setTimeout"] });
  const { store, clock, unreachable } = createRegistry();
  const { log, named } = recordingLog();
  const members = new Map<string, Membership>();
  let largest = 0;
  const sharesOf = () => [...members.values()].map((member) => member.share());

  return {
    unreachable,
    named,
    async join(id: string) {
      const node = { id, host: id, url: `http://${id}`, version: "1" };
      const now = () => clock.now;
      const member = createMembership({ store, node, log, now, clock: now, monotonic: now });
      members.set(id, member);
      await member.join();
    },
    async leave(id: string) {
      await members.get(id)?.leave();
      members.delete(id);
    },
    /** Lets time pass, and notes the largest sum of all shares. */
    async pass(ms: number) {
      for (let passed = 0; passed < ms; passed += 100) {
        clock.now += 100;
        timers.tick(100);
        await settled();
        const sum = sharesOf().reduce((all, share) => all + share, 0);
        largest = Math.max(largest, sum);
      }
    },
    sharesOf,
    largestSum: () => largest,
  };
}

suite("the share of a server in a rate", () => {
  test("is all of it for the only server, from the start", async (t) => {
    const { join, sharesOf } = createCluster(t.mock.timers);
    await join("a");
    assert.deepEqual(sharesOf(), [1]);
  });

  test("is an equal one of each server, once all know of each other", async (t) => {
    const { join, leave, pass, sharesOf, largestSum } = createCluster(t.mock.timers);
    await join("a");
    await pass(20_000);
    await join("b");
    await join("c");
    assert.deepEqual(sharesOf(), [1, 0, 0]);
    await pass(11_000);
    assert.deepEqual(sharesOf(), [1 / 3, 1 / 3, 1 / 3]);
    await leave("b");
    await pass(6000);
    assert.deepEqual(sharesOf(), [1 / 2, 1 / 2]);
    assert.ok(largestSum() <= 1 + Number.EPSILON, String(largestSum()));
  });

  test("ends while the server cannot tell that it is alive, before the others take it", async (t) => {
    const { join, pass, unreachable, sharesOf, largestSum, named } = createCluster(t.mock.timers);
    await join("a");
    await join("b");
    await pass(20_000);
    assert.deepEqual(sharesOf(), [1 / 2, 1 / 2]);
    unreachable.add("b");
    await pass(25_000);
    assert.deepEqual(sharesOf(), [1, 0]);
    assert.equal(named("heartbeat_error").length, 1);
    unreachable.delete("b");
    await pass(20_000);
    assert.deepEqual(sharesOf(), [1 / 2, 1 / 2]);
    assert.ok(largestSum() <= 1 + Number.EPSILON, String(largestSum()));
  });

  test("never exceeds the rate in sum, whoever joins, leaves or hangs", async (t) => {
    const { join, leave, pass, unreachable, largestSum } = createCluster(t.mock.timers);
    const joined = new Set<string>();
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return Math.floor((seed / 2 ** 31) * below);
    };
    for (let step = 0; step < 150; step++) {
      const id = `server ${random(5)}`;
      const isLeaving = joined.has(id) && random(2) === 0;
      if (isLeaving) {
        joined.delete(id);
        await leave(id);
      } else if (!joined.has(id)) {
        joined.add(id);
        await join(id);
      } else if (!unreachable.delete(id)) unreachable.add(id);
      await pass(100 * random(120));
    }
    assert.ok(largestSum() > 0.9 && largestSum() <= 1.0001, String(largestSum()));
  });
});
