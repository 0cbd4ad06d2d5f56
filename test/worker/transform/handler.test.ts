import assert from "node:assert/strict";
import { suite, test } from "node:test";
import fc from "fast-check";
import type { ClaimedJob, JobName } from "../../../src/events/job.ts";
import type { SentBody } from "../../../src/events/store.ts";
import type { Handler } from "../../../src/worker/handler.ts";
import { withTransform } from "../../../src/worker/transform/handler.ts";
import { claimedJob } from "../../helpers/job.ts";
import { handlerOf } from "../../helpers/route.ts";

const NEVER = new AbortController().signal;

/** A store that keeps the first body of each job. */
function bodies() {
  const kept = new Map<string, SentBody>();
  const keyOf = ({ event, route }: JobName) => `${event} ${route}`;
  return {
    kept,
    store: {
      sentBody: async (job: JobName) => kept.get(keyOf(job)) ?? null,
      async keepSentBody(job: JobName, body: SentBody) {
        kept.set(keyOf(job), kept.get(keyOf(job)) ?? body);
        return kept.get(keyOf(job)) as SentBody;
      },
    },
  };
}

/** A server on a store: another one after each restart. Each evaluation gives other bytes. */
function start(store: ReturnType<typeof bodies>["store"], sent: string[], answers: () => boolean) {
  const target = handlerOf(async ({ payload, contentType }: ClaimedJob) => {
    sent.push(`${contentType} ${Buffer.from(payload)}`);
    if (!answers()) throw new Error("the target answered 500");
  });
  const transformer = {
    run: async () => ({ payload: Buffer.from(String(Math.random())), contentType: "text/plain" }),
    close: async () => {},
  };
  return attempting(withTransform(target, "$random()", { store, transformer, jsonOf: () => "{}" }));
}

/** Attempts of a handler: they prepare what is sent, and send it. */
function attempting({ prepare, run }: Handler) {
  return async (job: ClaimedJob) => run((await prepare?.(job, NEVER)) ?? job, NEVER);
}

suite("a handler with a transformation", () => {
  test("sends the same bytes in every attempt, whatever restarts, retries, replays and servers there are", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            restarts: fc.boolean(),
            fails: fc.boolean(),
            isReplay: fc.boolean(),
            servers: fc.integer({ min: 1, max: 3 }),
          }),
          { minLength: 1, maxLength: 12 },
        ),
        async (attempts) => {
          const { store } = bodies();
          const sent: string[] = [];
          let fails = false;
          const open = () => start(store, sent, () => !fails);
          let attempt = open();
          for (const [number, step] of attempts.entries()) {
            ({ fails } = step);
            if (step.restarts) attempt = open();
            const job = claimedJob({ attempt: number + 1, isReplay: step.isReplay });
            // Of two servers with one job, one has lost its lease.
            const others = Array.from({ length: step.servers - 1 }, open);
            await Promise.allSettled([attempt, ...others].map((one) => one(job)));
          }
          assert.equal(new Set(sent).size, 1);
        },
      ),
    ));

  test("makes the body anew once it is forgotten", async () => {
    const { store, kept } = bodies();
    const sent: string[] = [];
    const attempt = start(store, sent, () => true);
    await attempt(claimedJob());
    kept.clear();
    await attempt(claimedJob());
    assert.equal(new Set(sent).size, 2);
  });

  test("sends nothing if the expression fails", async () => {
    const { store, kept } = bodies();
    const sent: string[] = [];
    const transformer = { run: () => Promise.reject(new Error("no")), close: async () => {} };
    const target = handlerOf(async () => void sent.push("sent"));
    const attempt = attempting(withTransform(target, "$", { store, transformer, jsonOf: () => "{}" }));
    await assert.rejects(attempt(claimedJob()), /^Error: no$/);
    assert.deepEqual([sent, kept.size], [[], 0]);
  });
});
