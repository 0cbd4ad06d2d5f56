import assert from "node:assert/strict";
import { suite, type TestContext, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { createAlertDelivery } from "../../src/alerts/delivery.ts";
import { NotifierError } from "../../src/alerts/notifiers/notifier-error.ts";
import type { Notifier } from "../../src/alerts/notifiers.ts";
import type { QueuedMessage } from "../../src/alerts/store.ts";
import { alertRecord } from "../contract/alert-store.ts";
import { recordingLog } from "../helpers/log.ts";
import { until } from "../helpers/until.ts";

const NOW = 1_800_000_000_000;
const DAY = 86_400_000;

const notifierNamed = (name: string): Notifier => ({ kind: "slack", name, url: `http://${name}.test/` });
const [PAGER, CHAT] = [notifierNamed("pager"), notifierNamed("chat")];

/** A message about an alert that is named after its text. */
const queued = (id: number, notifier: string, text: string, changes: Partial<QueuedMessage> = {}): QueuedMessage => ({
  id,
  notifier,
  message: { alerts: [alertRecord({ summary: text })], at: NOW },
  attempts: 0,
  dueAt: NOW,
  ...changes,
});

interface Try {
  text: string;
  signal: AbortSignal;
  end(error?: Error): void;
}

/** A delivery with these messages, whose time moves and whose tries end when the test says so. */
function open(t: TestContext, ...messages: QueuedMessage[]) {
  const clock = { now: NOW };
  const waiting = [...messages];
  const tries: Try[] = [];
  const { log, named } = recordingLog();
  const store = {
    nextMessages: async () =>
      waiting
        .filter(({ notifier }, n) => waiting.findIndex((other) => other.notifier === notifier) === n)
        .map((message) => ({ ...message })),
    async removeMessage(id: number) {
      waiting.splice(
        waiting.findIndex((message) => message.id === id),
        1,
      );
    },
    async delayMessage(id: number, dueAt: number) {
      const message = waiting.find((candidate) => candidate.id === id);
      if (message) Object.assign(message, { dueAt, attempts: message.attempts + 1 });
    },
  };
  const delivery = createAlertDelivery({
    store,
    notify(notifier, message, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      signal.addEventListener("abort", () => reject(new Error("stopped")));
      const end = (error?: Error) => (error ? reject(error) : resolve());
      tries.push({ text: `${notifier.name} ${message.alerts[0]?.summary}`, signal, end });
      return promise;
    },
    log,
    now: () => clock.now,
  });
  t.after(() => delivery.stop());
  /** Sends what is due, and lets what follows from it happen. */
  const run = async (...notifiers: Notifier[]) => {
    await delivery.run(notifiers);
    await nextTurn();
  };
  /** Ends the last try, with this error if there is one. */
  const end = async (error?: Error) => {
    tries.at(-1)?.end(error);
    await nextTurn();
  };
  const texts = () => tries.map(({ text }) => text);
  return { delivery, store, clock, waiting, tries, texts, run, end, named };
}

suite("the delivery of alerts", () => {
  test("sends the messages of a notifier one after the other, and removes each when it has arrived", async (t) => {
    const { run, end, texts, waiting } = open(t, queued(1, "pager", "one"), queued(2, "pager", "two"));
    await run(PAGER);
    assert.deepEqual(texts(), ["pager one"]);
    await end();
    assert.deepEqual(texts(), ["pager one", "pager two"]);
    assert.equal(waiting.length, 1);
    await end();
    assert.deepEqual(waiting, []);
  });

  test("sends a message once, even if it is run again meanwhile", async (t) => {
    const { run, texts } = open(t, queued(1, "pager", "one"));
    for (let i = 0; i < 3; i++) await run(PAGER);
    assert.deepEqual(texts(), ["pager one"]);
  });

  test("keeps no notifier waiting for another one", async (t) => {
    const { run, tries, texts, waiting } = open(
      t,
      queued(1, "pager", "one"),
      queued(2, "chat", "one"),
      queued(3, "chat", "two"),
    );
    await run(PAGER, CHAT);
    assert.deepEqual(texts(), ["pager one", "chat one"]);
    tries[1]?.end();
    await nextTurn();
    tries[2]?.end();
    await nextTurn();
    assert.deepEqual(texts(), ["pager one", "chat one", "chat two"]);
    assert.deepEqual(
      waiting.map(({ id }) => id),
      [1],
    );
  });

  test("sends no message before those that are older, and tries again when they are due", async (t) => {
    const { run, end, texts, clock, named } = open(t, queued(1, "pager", "one"), queued(2, "pager", "two"));
    await run(PAGER);
    await end(new Error("the answer was 503"));
    clock.now += 4999;
    await run(PAGER);
    assert.deepEqual(texts(), ["pager one"]);
    clock.now += 1;
    await run(PAGER);
    await end();
    await end();
    assert.deepEqual(texts(), ["pager one", "pager one", "pager two"]);
    const [line, ...others] = named("alert_not_sent");
    assert.deepEqual([line?.notifier, line?.attempt, line?.error], ["pager", 1, "the answer was 503"]);
    assert.deepEqual(others, []);
  });

  test("tells what came of each message, once", async (t) => {
    const { delivery, run, end, clock, waiting } = open(t, queued(1, "pager", "one"), queued(2, "gone", "two"));
    const outcomes = () => delivery.takeOutcomes().map(({ notifier, state, error }) => [notifier, state, error]);
    await run(PAGER);
    await end(new Error("the answer was 503"));
    assert.deepEqual(outcomes(), [
      ["gone", "failed", "it is no longer configured"],
      ["pager", "retried", "the answer was 503"],
    ]);
    clock.now = waiting[0]?.dueAt ?? 0;
    await run(PAGER);
    await end();
    assert.deepEqual(outcomes(), [["pager", "sent", null]]);
    waiting.push(queued(3, "pager", "three"));
    clock.now += DAY;
    await run(PAGER);
    await end(new Error("the answer was 503"));
    assert.deepEqual(outcomes(), [["pager", "failed", "the answer was 503"]]);
    assert.deepEqual(outcomes(), []);
  });

  test("waits twice as long after each failure, up to 5 minutes", async (t) => {
    const { run, end, clock, waiting } = open(t, queued(1, "pager", "one"));
    const delays: number[] = [];
    for (let attempt = 0; attempt < 9; attempt++) {
      await run(PAGER);
      await end(new Error("down"));
      const dueAt = waiting[0]?.dueAt ?? 0;
      delays.push((dueAt - clock.now) / 1000);
      clock.now = dueAt;
    }
    assert.deepEqual(delays, [5, 10, 20, 40, 80, 160, 300, 300, 300]);
  });

  for (const [what, retryAfterMs, delayMs] of [
    ["a longer delay", 65_000, 65_000],
    ["a shorter one than its first delay", 1000, 5000],
    ["more than an hour", 86_400_000, 3_600_000],
  ] as const) {
    test(`waits as long as a notifier asks for: ${what}`, async (t) => {
      const { run, end, clock, waiting } = open(t, queued(1, "pager", "one"));
      await run(PAGER);
      await end(new NotifierError("the answer was 429", { retryAfterMs }));
      assert.equal((waiting[0]?.dueAt ?? 0) - clock.now, delayMs);
    });
  }

  test("sends a message once that some recipients have and others refused, and says so", async (t) => {
    const { run, end, waiting, texts, named } = open(t, queued(1, "pager", "one"), queued(2, "pager", "two"));
    await run(PAGER);
    await end(new NotifierError("1 of 2 recipients are refused", { isFinal: true }));
    assert.deepEqual(texts(), ["pager one", "pager two"]);
    assert.deepEqual(
      waiting.map(({ id }) => id),
      [2],
    );
    const [line] = named("alert_not_sent");
    assert.equal(line?.error, "1 of 2 recipients are refused");
    assert.match(String(line?.message), /not sent again/);
  });

  test("gives a message up that fails when it is older than a day, and goes on with the next one", async (t) => {
    const old = queued(1, "pager", "old", { message: { alerts: [alertRecord({ summary: "old" })], at: NOW - DAY } });
    const { run, end, clock, waiting, texts, named } = open(t, old, queued(2, "pager", "new"));
    await run(PAGER);
    await end(new Error("down"));
    assert.equal(waiting.length, 2, "it is not older than a day");
    clock.now += 5000;
    await run(PAGER);
    await end(new Error("down"));
    assert.deepEqual(texts(), ["pager old", "pager old", "pager new"]);
    assert.deepEqual(
      waiting.map(({ id }) => id),
      [2],
    );
    assert.match(String(named("alert_not_sent").at(-1)?.message), /given up/);
  });

  test("drops the messages of a notifier that is no longer configured", async (t) => {
    const { run, texts, waiting } = open(t, queued(1, "gone", "one"), queued(2, "pager", "one"));
    await run(PAGER);
    assert.deepEqual(texts(), ["pager one"]);
    assert.deepEqual(
      waiting.map(({ id }) => id),
      [2],
    );
  });

  test("keeps a message whose sending is stopped, without counting a try", async (t) => {
    const { delivery, run, tries, waiting, named, texts } = open(t, queued(1, "pager", "one"));
    await run(PAGER);
    await delivery.stop();
    assert.equal(tries[0]?.signal.aborted, true);
    assert.deepEqual(
      waiting.map(({ id, attempts, dueAt }) => [id, attempts, dueAt]),
      [[1, 0, NOW]],
    );
    assert.deepEqual(named("alert_not_sent"), []);
    await run(PAGER);
    assert.deepEqual(texts(), ["pager one"], "nothing is sent after the stop");
  });

  test("stops only after a message that has arrived is removed", async (t) => {
    const { delivery, store, run, tries, waiting } = open(t, queued(1, "pager", "one"));
    const removal = Promise.withResolvers<void>();
    const remove = store.removeMessage;
    store.removeMessage = async (id) => {
      await removal.promise;
      await remove(id);
    };
    await run(PAGER);
    tries[0]?.end();
    await nextTurn();
    let isStopped = false;
    const stopped = delivery.stop().then(() => {
      isStopped = true;
    });
    await nextTurn();
    assert.equal(isStopped, false);
    removal.resolve();
    await stopped;
    assert.deepEqual(waiting, []);
  });

  test("rejects if the store does not answer, and sends with the next run", async (t) => {
    const { delivery, store, run, texts } = open(t, queued(1, "pager", "one"));
    const works = store.nextMessages;
    store.nextMessages = async () => {
      throw new Error("down");
    };
    await assert.rejects(delivery.run([PAGER]), /down/);
    store.nextMessages = works;
    await run(PAGER);
    assert.deepEqual(texts(), ["pager one"]);
  });

  test("goes on with the next run after the store did not answer between two messages", async (t) => {
    const { store, run, end, texts } = open(t, queued(1, "pager", "one"), queued(2, "pager", "two"));
    await run(PAGER);
    const works = store.nextMessages;
    store.nextMessages = async () => {
      throw new Error("down");
    };
    await end();
    store.nextMessages = works;
    await until(async () => {
      await run(PAGER);
      return texts().length === 2;
    });
    assert.deepEqual(texts(), ["pager one", "pager two"]);
  });
});
