import assert from "node:assert/strict";
import { suite, type TestContext, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { localStores } from "../../../src/sqlite/stores.ts";
import { createRefusalKeeper } from "../../../src/webhook/intake/refusal-keeper.ts";
import type { RefusalStore } from "../../../src/webhook/intake/refusal-store.ts";
import { createRecentRefusals } from "../../../src/webhook/intake/refusals.ts";
import { tempDatabase } from "../../helpers/database.ts";
import { recordingLog } from "../../helpers/log.ts";

const START = 1_800_000_000_000;
const DAY_MS = 86_400_000;

/** Servers on one store, by a clock that the test moves. */
function open(t: TestContext) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const stored = localStores(tempDatabase(t).database).refusals;
  const state = { now: START, isDown: false, writes: 0 };
  const store: RefusalStore = {
    async add(...of) {
      state.writes++;
      if (state.isDown) throw new Error("the store is down");
      await stored.add(...of);
    },
    async list(since) {
      if (state.isDown) throw new Error("the store is down");
      return stored.list(since);
    },
  };
  const { log, named } = recordingLog();
  function server() {
    const now = () => state.now;
    const refusals = createRecentRefusals(now);
    return {
      ...createRefusalKeeper({ refusals, store, log, now }),
      refuse: (reason: string) => refusals.add({ source: "shop", reason, address: "192.0.2.1" }),
      stray: (path: string) => refusals.add({ source: null, reason: "not_found", address: "192.0.2.1", path }),
      list: () => refusals.list().map(({ reason, path }) => path ?? reason),
    };
  }
  async function pass(seconds: number): Promise<void> {
    t.mock.timers.tick(seconds * 1000);
    for (let turn = 0; turn < 10; turn++) await nextTurn();
  }
  const reasons = async () => (await stored.list(0)).map(({ reason }) => reason);
  return { state, server, pass, reasons, named };
}

suite("the keeper of refusals", () => {
  test("writes once for many, and the next server lists them behind its own", async (t) => {
    const { state, server, pass, reasons } = open(t);
    const first = server();
    first.start();
    await pass(0);
    for (let n = 0; n < 500; n++) first.refuse(`r${n}`);
    await pass(5);
    await pass(5);
    assert.equal(state.writes, 1);
    assert.deepEqual([(await reasons()).length, (await reasons())[0]], [100, "r499"]);
    first.refuse("last");
    await first.stop();
    const second = server();
    second.start();
    second.refuse("new");
    await pass(0);
    assert.deepEqual(second.list().slice(0, 3), ["new", "last", "r499"]);
    assert.equal(second.list().length, 100);
    await second.stop();
    assert.deepEqual((await reasons()).slice(0, 3), ["new", "last", "r499"]);
  });

  test("stores nothing of a path that no source has", async (t) => {
    const { server, pass } = open(t);
    const first = server();
    first.start();
    await pass(0);
    first.refuse("no_signature");
    first.stray("/webhok");
    assert.deepEqual(first.list(), ["/webhok", "no_signature"]);
    await first.stop();
    const second = server();
    second.start();
    await pass(0);
    assert.deepEqual(second.list(), ["no_signature"]);
  });

  test("keeps what a store does not take, says so once, and stores it later", async (t) => {
    const { state, server, pass, reasons, named } = open(t);
    state.isDown = true;
    const { start, stop, refuse, list } = server();
    start();
    refuse("one");
    await pass(5);
    state.isDown = false;
    await pass(5);
    state.isDown = true;
    refuse("two");
    await pass(5);
    refuse("three");
    await pass(5);
    assert.deepEqual([list(), await reasons()], [["three", "two", "one"], ["one"]]);
    assert.equal(named("refusals_error").length, 2);
    state.isDown = false;
    await stop();
    assert.deepEqual(await reasons(), ["three", "two", "one"]);
  });

  test("lists none that is older than a month", async (t) => {
    const { state, server, pass, reasons } = open(t);
    const first = server();
    first.start();
    await pass(0);
    first.refuse("old");
    await pass(5);
    state.now += 30 * DAY_MS + 1;
    assert.deepEqual(first.list(), []);
    const second = server();
    second.start();
    await pass(0);
    assert.deepEqual(second.list(), []);
    second.refuse("new");
    await second.stop();
    assert.deepEqual(await reasons(), ["new"]);
  });
});
