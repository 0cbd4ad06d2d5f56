import assert from "node:assert/strict";
import { suite, type TestContext, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Notifier } from "../../src/alerts/notifiers.ts";
import { type AlertRules, DEFAULT_RULES, type Facts } from "../../src/alerts/rules.ts";
import type { AlertChanges } from "../../src/alerts/store.ts";
import type { SendOutcome } from "../../src/alerts/tellings.ts";
import { type AlertConfig, createAlertWatch } from "../../src/alerts/watch.ts";
import { localStores } from "../../src/sqlite/stores.ts";
import { tempDatabase } from "../helpers/database.ts";
import { recordingLog } from "../helpers/log.ts";

const NOW = 1_800_000_000_000;

const chat = (name: string): Notifier => ({ kind: "slack", name, url: "http://chat.test/" });

const config = (rules: Partial<AlertRules> = {}, ...notifiers: Notifier[]): AlertConfig => ({
  rules: { ...DEFAULT_RULES, ...rules },
  notifiers,
});

/** A watch with time that the test moves, and with facts that it sets. */
function open(t: TestContext, first = config({}, chat("chat"))) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { alerts: store } = localStores(tempDatabase(t).database);
  const saved: AlertChanges[] = [];
  const runs: (readonly Notifier[])[] = [];
  const asked: number[] = [];
  const order: string[] = [];
  const outcomes: SendOutcome[] = [];
  const { log, lines, named } = recordingLog();
  const server = {
    now: NOW,
    isOnDuty: true,
    deadLetters: 0,
    queued: 0,
    fault: null as Error | null,
    gate: null as Promise<void> | null,
  };
  const watch = createAlertWatch(first, {
    store: {
      ...store,
      async save(changes) {
        saved.push(changes);
        await store.save(changes);
      },
    },
    async readFacts(attemptsSince): Promise<Facts> {
      asked.push(attemptsSince);
      await server.gate;
      order.push("measured");
      if (server.fault) throw server.fault;
      return {
        now: server.now,
        backlog: { queued: server.queued, oldestQueuedAt: null, unreadable: 0 },
        routes: [{ route: "all", failed: server.deadLetters, queued: 0, pausedAt: null }],
        attempts: [],
        sources: [],
        disk: null,
        certificateEndsAt: null,
        tokens: [],
        newLogins: [],
        logouts: [],
        parts: [],
        refused: {},
        writeError: null,
        missed: [],
        subscriptions: [],
      };
    },
    delivery: {
      async run(notifiers) {
        runs.push(notifiers);
      },
      takeOutcomes: () => outcomes.splice(0),
      async stop() {
        order.push("delivery stopped");
      },
    },
    log,
    isOnDuty: async () => server.isOnDuty,
    now: () => server.now,
  });
  /** Moves the time, and lets what is due happen. */
  async function pass(ms: number): Promise<void> {
    server.now += ms;
    t.mock.timers.tick(ms);
    await nextTurn();
  }
  t.after(() => watch.stop());
  return { watch, server, store, saved, runs, asked, order, outcomes, lines, named, pass };
}

suite("the watch", () => {
  test("checks at once and every 5 seconds, and sends what is queued each time", async (t) => {
    const { watch, asked, runs, pass } = open(t);
    watch.start();
    await pass(0);
    assert.deepEqual([asked.length, runs.length], [1, 1]);
    await pass(4999);
    assert.equal(asked.length, 1);
    await pass(1);
    for (let i = 0; i < 3; i++) await pass(5000);
    assert.deepEqual([asked.length, runs.length], [5, 5]);
    assert.deepEqual(runs[0], [chat("chat")]);
  });

  test("starts no check while one is running", async (t) => {
    const { watch, server, asked, pass } = open(t);
    const gate = Promise.withResolvers<void>();
    server.gate = gate.promise;
    watch.start();
    await pass(0);
    for (let i = 0; i < 3; i++) await pass(5000);
    assert.equal(asked.length, 1);
    gate.resolve();
    await nextTurn();
    await pass(5000);
    assert.equal(asked.length, 2);
  });

  test("asks for the attempts of the window", async (t) => {
    const { watch, asked, pass } = open(t, config({ failureRate: { above: 0, overMs: 90_000, atLeast: 1 } }));
    watch.start();
    await pass(0);
    assert.deepEqual(asked, [NOW - 90_000]);
  });

  test("stores and logs a change once, with a message for each notifier", async (t) => {
    const { watch, server, store, saved, named, pass } = open(t, config({}, chat("a"), chat("b")));
    watch.start();
    await pass(0);
    assert.deepEqual(saved, []);
    server.deadLetters = 1;
    for (let i = 0; i < 3; i++) await pass(5000);
    assert.equal(saved.length, 1);
    assert.deepEqual(
      (await store.nextMessages()).map(({ notifier, message, dueAt }) => [notifier, message.alerts[0]?.name, dueAt]),
      ["a", "b"].map((name) => [name, "AuthserveDeadLetters", NOW + 5000]),
    );
    assert.deepEqual(
      named("alert_firing").map(({ level, alert, labels }) => [level, alert, labels]),
      [["warn", "AuthserveDeadLetters", {}]],
    );
    server.deadLetters = 0;
    for (let i = 0; i < 3; i++) await pass(5000);
    assert.deepEqual(
      named("alert_resolved").map(({ level, alert }) => [level, alert]),
      [["info", "AuthserveDeadLetters"]],
    );
    assert.equal(saved.length, 2);
  });

  test("that is not on duty measures nothing and sends nothing", async (t) => {
    const { watch, server, asked, runs, pass } = open(t);
    server.isOnDuty = false;
    server.deadLetters = 1;
    watch.start();
    await pass(0);
    await pass(5000);
    assert.deepEqual([asked, runs], [[], []]);
    server.isOnDuty = true;
    await pass(5000);
    assert.deepEqual([asked.length, runs.length], [1, 1]);
  });

  test("that was not on duty measures the queue anew", async (t) => {
    const { watch, server, store, pass } = open(
      t,
      config({ queue: { olderThanMs: 1000, growingForMs: 10_000, atLeast: 1 } }),
    );
    const grow = async (isOnDuty: boolean) => {
      server.isOnDuty = isOnDuty;
      server.queued++;
      await pass(5000);
    };
    const names = async () => (await store.read()).alerts.map(({ name }) => name);
    watch.start();
    await pass(0);
    await grow(true);
    await grow(false);
    for (let i = 0; i < 2; i++) await grow(true);
    assert.deepEqual(await names(), []);
    await grow(true);
    assert.deepEqual(await names(), ["AuthserveQueueGrowing"]);
  });

  test("logs an error once for as long as it stays the same", async (t) => {
    const { watch, server, named, pass, asked } = open(t);
    const errors = () => named("alert_check_error").map(({ error }) => error);
    watch.start();
    for (const fault of ["down", "down", "full", "full", null, "full"]) {
      server.fault = fault === null ? null : new Error(fault);
      await pass(5000);
    }
    assert.equal(asked.length, 6);
    assert.deepEqual(errors(), ["down", "full", "full"]);
  });

  test("has other rules and notifiers from the next check on", async (t) => {
    const { watch, server, store, named, runs, pass } = open(t);
    server.deadLetters = 3;
    watch.start();
    await pass(0);
    assert.equal(named("alert_firing").length, 1);
    watch.apply(config({ deadLetters: { above: 3 } }, chat("other")));
    assert.deepEqual(named("alert_resolved"), []);
    await pass(5000);
    assert.equal(named("alert_resolved").length, 1);
    assert.deepEqual(runs.at(-1), [chat("other")]);
    assert.deepEqual(
      (await store.nextMessages()).map(({ notifier }) => notifier),
      ["chat", "other"],
    );
  });

  test("stores what came of a message, also of the last one before it stops", async (t) => {
    const { watch, server, store, outcomes, pass } = open(t, config({}, chat("a"), chat("b")));
    watch.start();
    server.deadLetters = 1;
    await pass(5000);
    const told = async () => (await store.read()).alerts[0]?.told?.map(({ notifier, state }) => `${notifier} ${state}`);
    const [first, second] = await store.nextMessages();
    assert.ok(first && second);
    const outcome = { state: "sent", at: server.now, error: null } as const;
    outcomes.push({ notifier: "a", message: first.message, ...outcome });
    await pass(5000);
    assert.deepEqual(await told(), ["b queued", "a sent"]);
    outcomes.push({ notifier: "b", message: second.message, ...outcome });
    await watch.stop();
    assert.deepEqual(await told(), ["a sent", "b sent"]);
  });

  test("stops after the running check, and then its delivery", async (t) => {
    const { watch, server, asked, order, pass } = open(t);
    const gate = Promise.withResolvers<void>();
    server.gate = gate.promise;
    watch.start();
    await pass(0);
    const stopped = watch.stop();
    await nextTurn();
    assert.deepEqual(order, []);
    gate.resolve();
    await stopped;
    assert.deepEqual(order, ["measured", "delivery stopped"]);
    await pass(60_000);
    assert.equal(asked.length, 1);
  });
});
