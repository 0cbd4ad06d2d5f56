import assert from "node:assert/strict";
import { suite, type TestContext, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { localStores } from "../../../src/sqlite/stores.ts";
import type { PauseReason } from "../../../src/webhook/intake/admission.ts";
import { MAX_RESTART_MS } from "../../../src/webhook/outages/outage.ts";
import type { OutageStore } from "../../../src/webhook/outages/store.ts";
import { createOutageWatch } from "../../../src/webhook/outages/watch.ts";
import { tempDatabase } from "../../helpers/database.ts";
import { recordingLog } from "../../helpers/log.ts";

const START = 1_800_000_000_000;

/** Servers on one store, one after the other, by a clock that the test moves. */
function open(t: TestContext) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const stored = localStores(tempDatabase(t).database).outages;
  const state: {
    now: number;
    /** By how much the clock was set forward. */
    setByMs: number;
    paused: PauseReason | null;
    isDown: boolean;
    hang?: Promise<void> | undefined;
    asked: number;
  } = {
    now: START,
    setByMs: 0,
    paused: null,
    isDown: false,
    asked: 0,
  };
  const orDown =
    <Args extends unknown[], Result>(run: (...args: Args) => Promise<Result>) =>
    async (...args: Args) => {
      if (state.isDown) throw new Error("the store is down");
      return run(...args);
    };
  const store: OutageStore = {
    ...stored,
    async beat(...of) {
      state.asked++;
      await state.hang;
      return orDown(stored.beat)(...of);
    },
    record: orDown(stored.record),
  };
  const { log, named } = recordingLog();
  const watch = (isShared = false) =>
    createOutageWatch({
      store,
      pausedBy: () => state.paused,
      isShared,
      log,
      now: () => state.now + state.setByMs,
      sinceBootMs: () => state.now - START,
    });

  async function pass(seconds: number): Promise<void> {
    for (let passed = 0; passed < seconds; passed += 5) {
      state.now += 5000;
      t.mock.timers.tick(5000);
      for (let turn = 0; turn < 10; turn++) await nextTurn();
    }
  }
  /** The outages as seconds after the start. */
  async function outages() {
    const seconds = (at: number) => (at - START) / 1000;
    return (await stored.list(0)).map(({ kind, from, to }) => [kind, seconds(from), seconds(to)]);
  }
  return { state, watch, pass, outages, named };
}

suite("the watch for outages", () => {
  test("a first start is none, and a later one is since the stop of the server before", async (t) => {
    const { state, watch, pass, outages, named } = open(t);
    const first = watch();
    await first.start();
    await pass(10);
    state.now += 2000;
    await first.stop();
    assert.deepEqual(await outages(), []);
    state.now += 3_600_000;
    const second = watch();
    await second.start();
    await second.stop();
    assert.deepEqual(await outages(), [["stopped", 12, 3612]]);
    assert.equal(named("outage_noticed")[0]?.seconds, 3600);
  });

  test("a restart in order is planned if it is short, and the first start after a crash is none", async (t) => {
    const { state, watch, outages } = open(t);
    for (const seconds of [0, 3, MAX_RESTART_MS / 1000, MAX_RESTART_MS / 1000 + 1]) {
      state.now += seconds * 1000;
      const { start, stop } = watch();
      await start();
      await stop();
    }
    assert.deepEqual(await outages(), [
      ["restart", 0, 3],
      ["restart", 3, 18],
      ["stopped", 18, 34],
    ]);
    state.now += 1000;
    await watch().start();
    // It is not stopped, as if it was killed.
    state.now += 1000;
    await watch().start();
    assert.deepEqual((await outages()).slice(3), [
      ["restart", 34, 35],
      ["stopped", 35, 36],
    ]);
  });

  test("a server that was killed has stopped with its last heartbeat, and a suspended one too", async (t) => {
    const { state, watch, pass, outages } = open(t);
    const killed = watch();
    await killed.start();
    await pass(10);
    state.now += 600_000;
    const second = watch();
    await second.start();
    state.now += 60_000;
    await pass(5);
    await second.stop();
    assert.deepEqual(await outages(), [
      ["stopped", 10, 610],
      ["stopped", 610, 675],
    ]);
  });

  test("a clock that is set forward is none, and an outage beside it is as long as it was", async (t) => {
    const { state, watch, pass, outages } = open(t);
    const { start, stop } = watch();
    await start();
    await pass(5);
    state.setByMs = 86_400_000;
    await pass(5);
    assert.deepEqual(await outages(), []);
    state.setByMs *= 2;
    state.now += 60_000;
    await pass(5);
    await stop();
    assert.deepEqual(await outages(), [["stopped", 172_810, 172_875]]);
  });

  test("a server on a shared database is none while others write heartbeats", async (t) => {
    const { state, watch, outages } = open(t);
    const first = watch(true);
    await first.start();
    state.now += 5000;
    const second = watch(true);
    await second.start();
    assert.deepEqual(await outages(), []);
    await Promise.all([first.stop(), second.stop()]);
  });

  test("an outage of the store is kept in memory, and stored afterwards", async (t) => {
    const { state, watch, pass, outages, named } = open(t);
    const { start, stop, refused } = watch();
    await start();
    await pass(5);
    state.isDown = true;
    refused("store_unavailable");
    await pass(60);
    state.isDown = false;
    await pass(5);
    await stop();
    assert.deepEqual(await outages(), [["store", 5, 70]]);
    assert.equal(named("heartbeat_error").length, 1);
  });

  test("deliveries that are paused or do not fit into the queue are outages of their kind", async (t) => {
    const { state, watch, pass, outages } = open(t);
    const { start, stop, refused } = watch();
    await start();
    state.paused = "disk_low";
    refused("intake_paused");
    await pass(30);
    state.paused = null;
    await pass(300);
    refused("queue_full");
    await pass(10);
    refused("queue_full");
    refused("invalid_payload");
    await pass(5);
    await stop();
    assert.deepEqual(await outages(), [
      ["disk", 0, 30],
      ["queue", 330, 340],
    ]);
  });

  test("a clock that is set back makes no outage", async (t) => {
    const { state, watch, pass, outages } = open(t);
    const { start, stop } = watch();
    await start();
    state.now -= 3_600_000;
    await pass(10);
    await stop();
    assert.deepEqual(await outages(), []);
  });

  test("a store that hangs gets one heartbeat at a time, and is an outage since the last good one", async (t) => {
    const { state, watch, pass, outages } = open(t);
    const { start, stop } = watch();
    await start();
    await pass(5);
    const held = Promise.withResolvers<void>();
    state.hang = held.promise;
    await pass(60);
    assert.equal(state.asked, 3);
    state.hang = undefined;
    held.resolve();
    await pass(15);
    await stop();
    const [[kind, from] = []] = await outages();
    assert.deepEqual([kind, from, (await outages()).length], ["store", 5, 1]);
  });
});
