import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { ClaimedJob, Next } from "../../../src/events/job.ts";
import type { Comparison } from "../../../src/events/shadow.ts";
import type { EventHandler, Handler, HttpAnswer } from "../../../src/worker/handler.ts";
import { createShadows, type ShadowRoute } from "../../../src/worker/shadow/shadows.ts";
import { claimedJob } from "../../helpers/job.ts";
import { recordingLog } from "../../helpers/log.ts";
import { handlerOf } from "../../helpers/route.ts";
import { until } from "../../helpers/until.ts";

const SHADOW: ShadowRoute = {
  name: "next",
  of: "billing",
  ignore: [],
  handler: { kind: "http", url: "http://next.test", key: null },
  transform: null,
  ofTransform: false,
  timeoutMs: 60_000,
  concurrency: 1,
};

const answering =
  (status: number, body = ""): EventHandler =>
  async (_job, _signal, _waitUntil, onAnswer) =>
    onAnswer?.(Promise.resolve({ status, body: Buffer.from(body), isWhole: true } satisfies HttpAnswer));

/** Shadows of the route billing, with one shadow, and the comparisons that they have stored. */
function start(handler: Handler, changes: Partial<ShadowRoute> = {}) {
  const stored: Comparison[] = [];
  const counted: string[] = [];
  const shadows = createShadows({
    store: { addComparisons: async (batch) => void stored.push(...batch) },
    log: recordingLog().log,
    now: () => 7,
    onCompared: (_, outcome) => counted.push(outcome),
  });
  shadows.apply([{ ...SHADOW, ...changes }], () => handler);
  const run = async (job: ClaimedJob, first: EventHandler, next: Next = { to: "processed" }, isLeased = true) => {
    await shadows.watch(job.route, handlerOf(first)).run(job, new AbortController().signal);
    const { event, route, attempt } = job;
    shadows.onSettled(
      job,
      { event, route, attempt, owner: "o", next, startedAt: 1, finishedAt: 2, error: null },
      isLeased,
    );
  };
  return { shadows, stored, counted, run };
}

const job = (changes: Partial<ClaimedJob> = {}) => claimedJob({ route: "billing", ...changes });

suite("a shadow", () => {
  test("gets the event once its route has answered for good, as its first attempt", async () => {
    const got: ClaimedJob[] = [];
    const { run, stored } = start(
      handlerOf((one, ...rest) => {
        got.push(one);
        return answering(200, "b")(one, ...rest);
      }),
    );
    await run(job(), answering(500), { to: "queued", runAt: 9 });
    await run(job(), answering(200), { to: "processed" }, false);
    await run(job({ route: "other" }), answering(200));
    await run(job({ event: 2 }), answering(200, "a"));
    await run(job({ event: 3 }), answering(500), { to: "failed", reason: "no" });
    await until(() => stored.length === 2);
    assert.deepEqual(
      got.map(({ event, route, attempt, countedAttempt }) => [event, route, attempt, countedAttempt]),
      [
        [2, "next", 1, 1],
        [3, "next", 1, 1],
      ],
    );
    const common = { route: "next", at: 7, outcome: "different" };
    assert.deepEqual(stored, [
      { ...common, event: 2, difference: { place: "body", expected: '"a"', found: '"b"' } },
      { ...common, event: 3, difference: { place: "status", expected: "500", found: "200" } },
    ]);
  });

  test("gets the event also if its route sends another body", async () => {
    const { shadows, stored } = start(handlerOf(answering(200, "b")));
    const { prepare, run } = shadows.watch(
      "billing",
      handlerOf(answering(200, "a"), { prepare: async (one) => ({ ...one }) }),
    );
    const { signal } = new AbortController();
    const one = job();
    await run((await prepare?.(one, signal)) ?? one, signal);
    const { event, route, attempt } = one;
    const next: Next = { to: "processed" };
    shadows.onSettled(one, { event, route, attempt, owner: "o", next, startedAt: 1, finishedAt: 2, error: null }, true);
    await until(() => stored.length === 1);
  });

  test("whose expression waits for its turn has all of its time to answer", async () => {
    const { run, stored } = start(
      handlerOf(answering(200, "a"), {
        async prepare(one) {
          await delay(150);
          return one;
        },
      }),
      { timeoutMs: 50 },
    );
    await run(job(), answering(200, "a"));
    await until(() => stored.length === 1);
    assert.equal(stored[0]?.outcome, "same");
  });

  test("that does not answer has failed, and is not tried again", async () => {
    let runs = 0;
    const { run, stored } = start(
      handlerOf(async () => {
        runs++;
        throw new Error("the target cannot be reached");
      }),
    );
    await run(job(), answering(200));
    await until(() => stored.length === 1);
    const difference = { place: "answer", expected: "200", found: "the target cannot be reached" };
    assert.deepEqual([stored[0]?.outcome, stored[0]?.difference, runs], ["failed", difference, 1]);
  });

  test("gets no event that its route has no answer to", async () => {
    const { run, shadows, counted } = start(handlerOf(answering(200)));
    await run(job(), async () => {});
    await shadows.stop();
    assert.deepEqual(counted, []);
  });

  test("that is slower than its route skips events, and those that wait at a stop are not compared", async () => {
    const { run, shadows, counted, stored } = start(
      handlerOf(
        (_job, signal) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
      ),
    );
    for (let event = 1; event <= 103; event++) await run(job({ event }), answering(200));
    await shadows.stop();
    assert.deepEqual(counted, ["skipped", "skipped"]);
    assert.deepEqual(
      stored.map(({ event, outcome, difference }) => [event, outcome, difference]),
      [
        [102, "skipped", null],
        [103, "skipped", null],
      ],
    );
  });
});
