import assert from "node:assert/strict";
import { suite, test } from "node:test";
import fc from "fast-check";
import type { ClaimedJob, JobName } from "../../../src/events/job.ts";
import type { SentBody } from "../../../src/events/store.ts";
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
  return withTransform(target, "$random()", { store, transformer, jsonOf: () => "{}" });
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
          let handler = open();
          for (const [attempt, step] of attempts.entries()) {
            ({ fails } = step);
            if (step.restarts) handler = open();
            const job = claimedJob({ attempt: attempt + 1, isReplay: step.isReplay });
            // Of two servers with one job, one has lost its lease.
            const others = Array.from({ length: step.servers - 1 }, open);
            await Promise.allSettled([handler, ...others].map(({ run }) => run(job, NEVER)));
          }
          assert.equal(new Set(sent).size, 1);
        },
      ),
    ));

  test("makes the body anew once it is forgotten", async () => {
    const { store, kept } = bodies();
    const sent: string[] = [];
    const { run } = start(store, sent, () => true);
    await run(claimedJob(), NEVER);
    kept.clear();
    await run(claimedJob(), NEVER);
    assert.equal(new Set(sent).size, 2);
  });

  test("sends nothing if the expression fails", async () => {
    const { store, kept } = bodies();
    const sent: string[] = [];
    const transformer = { run: () => Promise.reject(new Error("no")), close: async () => {} };
    const target = handlerOf(async () => void sent.push("sent"));
    const { run } = withTransform(target, "$", { store, transformer, jsonOf: () => "{}" });
    await assert.rejects(run(claimedJob(), NEVER), /^Error: the transformation failed: no$/);
    assert.deepEqual([sent, kept.size], [[], 0]);
  });
});
