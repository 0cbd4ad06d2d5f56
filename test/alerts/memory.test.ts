import assert from "node:assert/strict";
import { suite, type TestContext, test } from "node:test";
import { createAlertMemory } from "../../src/alerts/memory.ts";
import type { AlertStore } from "../../src/alerts/store.ts";
import { localStores } from "../../src/sqlite/stores.ts";
import { alertChanges, alertRecord } from "../contract/alert-store.ts";
import { tempDatabase } from "../helpers/database.ts";
import { recordingLog } from "../helpers/log.ts";

const NOW = 1_800_000_000_000;

const FIRING = alertChanges({
  changed: [alertRecord()],
  message: { alerts: [alertRecord()], at: NOW },
  notifiers: ["pager", "chat"],
});

/** A memory before a store, of which the test lets some methods fail. */
function open(t: TestContext) {
  const { alerts: store } = localStores(tempDatabase(t).database);
  const failing = new Set<keyof AlertStore>();
  const behind = new Proxy(store, {
    get: (target, name: keyof AlertStore) =>
      failing.has(name) ? () => Promise.reject(new Error("the disk is full")) : target[name],
  });
  const { log, named } = recordingLog();
  return { store, failing, memory: createAlertMemory(behind, log), named };
}

const fail = (failing: Set<keyof AlertStore>) => {
  for (const name of ["read", "save", "nextMessages", "removeMessage", "delayMessage"] as const) failing.add(name);
};
const notifiersOf = async ({ nextMessages }: Pick<AlertStore, "nextMessages">) =>
  (await nextMessages()).map(({ notifier }) => notifier).sort();

suite("while the store of alerts fails", () => {
  test("alerts and their messages are kept in memory, and told of in the log once", async (t) => {
    const { failing, memory, named } = open(t);
    fail(failing);
    await memory.save(FIRING);
    await memory.save(alertChanges({ changed: [alertRecord({ id: "a2" })] }));
    assert.deepEqual(
      (await memory.read()).alerts.map(({ id }) => id),
      ["a1", "a2"],
    );
    assert.deepEqual(await notifiersOf(memory), ["chat", "pager"]);
    assert.equal(memory.fault, "the disk is full");
    assert.equal(named("alert_check_error").length, 1);
  });

  test("what was read before is still known", async (t) => {
    const { store, failing, memory } = open(t);
    await store.save(alertChanges({ changed: [alertRecord()] }));
    await memory.read();
    fail(failing);
    assert.deepEqual(
      (await memory.read()).alerts.map(({ id }) => id),
      ["a1"],
    );
  });

  test("a message that is sent is not sent again, and one that is not is tried later", async (t) => {
    const { failing, memory, store } = open(t);
    fail(failing);
    await memory.save(FIRING);
    for (const { id, notifier } of await memory.nextMessages()) {
      if (notifier === "pager") await memory.removeMessage(id);
      else await memory.delayMessage(id, NOW + 5000);
    }
    const [waiting, ...more] = await memory.nextMessages();
    assert.deepEqual([waiting?.notifier, waiting?.attempts, waiting?.dueAt, more], ["chat", 1, NOW + 5000, []]);

    failing.clear();
    assert.deepEqual(
      (await memory.read()).alerts.map(({ id }) => id),
      ["a1"],
    );
    assert.deepEqual([await notifiersOf(memory), await notifiersOf(store), memory.fault], [["chat"], ["chat"], null]);
  });

  test("a stored message that is sent is not sent again, though it cannot be removed", async (t) => {
    const { failing, memory, store } = open(t);
    await memory.save(FIRING);
    failing.add("removeMessage").add("delayMessage");
    for (const { id, notifier } of await memory.nextMessages()) {
      if (notifier === "pager") await memory.removeMessage(id);
      else await memory.delayMessage(id, NOW + 5000);
    }
    const [waiting, ...more] = await memory.nextMessages();
    assert.deepEqual([waiting?.notifier, waiting?.attempts, waiting?.dueAt, more], ["chat", 1, NOW + 5000, []]);
    failing.clear();
    await memory.nextMessages();
    assert.deepEqual(await notifiersOf(store), ["chat"]);
  });

  test("a store that hangs is asked once, until it answers", async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const { store } = open(t);
    let asked = 0;
    const gate = Promise.withResolvers<Awaited<ReturnType<AlertStore["read"]>>>();
    const hanging = {
      ...store,
      read() {
        asked++;
        return gate.promise;
      },
    };
    const memory = createAlertMemory(hanging, recordingLog().log);
    const first = memory.read();
    await Promise.resolve();
    t.mock.timers.tick(10_000);
    assert.deepEqual((await first).alerts, []);
    await memory.save(FIRING);
    await memory.read();
    assert.equal(asked, 1);
    gate.resolve({ alerts: [], silences: [] });
    await gate.promise;
    await new Promise(setImmediate);
    await memory.read();
    assert.equal(asked, 2);
    assert.equal(memory.fault, null);
  });
});
