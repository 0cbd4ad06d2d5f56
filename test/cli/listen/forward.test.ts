import assert from "node:assert/strict";
import { suite, type TestContext, test } from "node:test";
import fc from "fast-check";
import { type Feed, patient, storeFeed } from "../../../src/cli/listen/feed.ts";
import { type Forwarding, forward, type View } from "../../../src/cli/listen/forward.ts";
import { createTarget, type Signing, type TargetAnswer } from "../../../src/cli/listen/target.ts";
import { AppError } from "../../../src/errors.ts";
import type { HeardEvent } from "../../../src/events/listening.ts";
import { localStores } from "../../../src/sqlite/stores.ts";
import { tempDatabase } from "../../helpers/database.ts";
import { NOW, newEvent } from "../../helpers/events.ts";
import { type ForwardTarget, startTarget } from "../../helpers/target.ts";
import { until } from "../../helpers/until.ts";

const AS_ROUTE: Signing = { as: "route", key: null, route: null };

/** A store, a listener to it that can be stopped in several ways, and its target. */
async function start(t: TestContext) {
  const { events } = localStores(tempDatabase(t).database);
  const target = await startTarget();
  t.after(() => target[Symbol.asyncDispose]());
  const shown: { event: HeardEvent; answer: TargetAnswer | null }[] = [];
  const waited: (string | null)[] = [];
  const view: View = {
    show: (event, answer) => void shown.push({ event, answer }),
    waits: (reason) => void waited.push(reason),
    reset() {},
  };
  const store = { isAway: false };
  const stored = storeFeed(events, {}, () => NOW);
  const feed: Feed = {
    ...stored,
    async next(cursor, signal) {
      if (store.isAway) throw new AppError("store_unavailable", { cause: new Error("away") });
      return stored.next(cursor, signal);
    },
  };
  const listener = createListener(patient(feed, view.waits), target, view, await feed.begin(null));
  t.after(listener.stop);
  const append = (ids: readonly string[]) => events.append(ids.map((eventId) => newEvent({ eventId })));
  const received = () => target.received.map(({ headers }) => String(headers["x-event-id"]));
  return { append, received, listener, target, store, shown, waited };
}

function createListener(feed: Feed, target: ForwardTarget, view: View, from: string) {
  let cursor = from;
  let ending = new AbortController();
  let running: Forwarding | undefined;
  let isKilled = false;
  const state = {
    save(next: string) {
      // A killed process saves nothing any more.
      if (isKilled) throw new Error("killed");
      cursor = next;
    },
  };
  return {
    start() {
      isKilled = false;
      ending = new AbortController();
      running = forward(cursor, {
        feed,
        target: createTarget({ url: target.url, loopback: null }, AS_ROUTE),
        state,
        view,
        signal: ending.signal,
      });
      running.done.catch(() => {});
      return running;
    },
    async stop() {
      ending.abort();
      await running?.done.catch(() => {});
    },
    async kill() {
      isKilled = true;
      ending.abort();
      await running?.done.catch(() => {});
    },
  };
}

const STEPS = ["append 1", "append 4", "stop", "kill", "store away", "store back", "target breaks"] as const;

/** Takes a step. Returns the ids of events that it has added. */
async function take(
  step: (typeof STEPS)[number],
  { append, listener, target, store }: Awaited<ReturnType<typeof start>>,
  name: string,
): Promise<string[]> {
  switch (step) {
    case "append 1":
    case "append 4": {
      const ids = Array.from({ length: Number(step.at(-1)) }, (_, nth) => `${name}-${nth}`);
      await append(ids);
      return ids;
    }
    case "stop":
    case "kill":
      await listener[step]();
      listener.start();
      return [];
    case "target breaks":
      target.answer((_, response) => {
        target.answer((__, next) => void next.writeHead(200).end());
        response.destroy();
      });
      return [];
    default:
      store.isAway = step === "store away";
      return [];
  }
}

suite("a listener", () => {
  test("sends every event once and in order, whatever stops on either side", { timeout: 120_000 }, async (t) => {
    const started = await start(t);
    const { received, listener, target, store, shown } = started;
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...STEPS), { minLength: 3, maxLength: 25 }), async (steps) => {
        const from = target.received.length;
        const added: string[] = [];
        const seen = () => received().slice(from);
        const once = () => seen().filter((id, nth, all) => id !== all[nth - 1]);
        target.answer((_, response) => void response.writeHead(200).end());
        listener.start();
        for (const step of steps) added.push(...(await take(step, started, `${++run}`)));
        store.isAway = false;
        try {
          await until(() => added.length === 0 || shown.at(-1)?.event.eventId === added.at(-1));
        } finally {
          await listener.stop();
        }
        assert.deepEqual(once(), added);
        // Only an event in flight may come twice.
        const mayRepeat = steps.filter((step) => step === "kill" || step === "target breaks").length;
        assert.ok(seen().length - added.length <= mayRepeat);
      }),
      { numRuns: 15, endOnFailure: true },
    );
  });

  test("holds an event while its target is away, and shows any answer", async (t) => {
    const { append, listener, target, shown, waited, received } = await start(t);
    const { url } = target;
    await target[Symbol.asyncDispose]();
    listener.start();
    await append(["a"]);
    await until(() => waited.some((reason) => reason?.includes(`${url} is away (ECONNREFUSED)`)));
    const { createServer } = await import("node:http");
    const back = createServer((_, response) => void response.writeHead(500).end());
    back.listen(Number(new URL(url).port), "127.0.0.1");
    t.after(() => void back.close());
    await until(() => shown.length > 0);
    assert.deepEqual([shown[0]?.event.eventId, shown[0]?.answer?.status, received()], ["a", 500, []]);
    assert.equal(waited.at(-1), null);
  });

  test("sends the last event again, marked as a replay, and nothing while it is paused", async (t) => {
    const { append, listener, target, received, shown } = await start(t);
    const { resend, pause } = listener.start();
    await append(["a"]);
    await until(() => shown.length === 1);
    resend();
    await until(() => shown.length === 2);
    assert.deepEqual(
      target.received.map(({ headers }) => headers["x-replay"]),
      [undefined, "true"],
    );
    pause(true);
    await append(["b"]);
    resend();
    await until(() => shown.length === 3);
    assert.deepEqual(received(), ["a", "a", "a"]);
    pause(false);
    await until(() => received().length === 4);
    assert.equal(received()[3], "b");
  });

  test("gives up an event that ends each connection without an answer, and goes on", async (t) => {
    const { append, listener, target, shown, received } = await start(t);
    target.answer(({ headers }, response) =>
      headers["x-event-id"] === "a" ? response.destroy() : response.writeHead(204).end(),
    );
    listener.start();
    await append(["a", "b"]);
    await until(() => shown.length === 2);
    assert.deepEqual(received(), ["a", "a", "a", "b"]);
    assert.equal(shown[0]?.answer?.status, null);
    assert.match(shown[0]?.answer?.error ?? "", /socket hang up|ECONNRESET/);
  });
});
