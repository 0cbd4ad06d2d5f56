import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, type TestContext, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { ResourceLimits } from "node:worker_threads";
import { startThread } from "../../../src/platform/checkout.ts";
import { runEvent } from "../../../src/worker/attempt.ts";
import { createModuleHandler } from "../../../src/worker/handlers/module.ts";
import { claimedJob } from "../../helpers/job.ts";
import { recordingLog } from "../../helpers/log.ts";
import { tempDir } from "../../helpers/temp-dir.ts";
import { HANG_MS, until } from "../../helpers/until.ts";
import { withoutDescriptors } from "./descriptors.ts";

const NEVER = new AbortController().signal;

/** The handler of a module with this code. `threads` counts the threads that were started. */
interface OpenOptions {
  idleMs?: number;
  resourceLimits?: ResourceLimits;
}

function open(t: TestContext, code: string, { resourceLimits, ...options }: OpenOptions = {}) {
  const dir = tempDir(t);
  const file = join(dir, "code.mjs");
  writeFileSync(file, code);
  const recorded = recordingLog();
  const started = { threads: 0 };
  const handler = createModuleHandler(
    { file, route: "code" },
    {
      log: recorded.log,
      environment: { GREETING: "hello" },
      startThread(workerOptions) {
        started.threads++;
        return startThread("module", { ...workerOptions, ...(resourceLimits && { resourceLimits }) });
      },
    },
    options,
  );
  t.after(() => handler.close());
  const run = (job = claimedJob(), timeoutMs = HANG_MS) => runEvent(handler, job, timeoutMs, NEVER);
  return { ...recorded, run, started, dir, file };
}

const errorOf = (outcome: object) => ("error" in outcome ? outcome.error : undefined);

suite("a module", () => {
  test("gets the event and its tools, and its text is the response", async (t) => {
    const { run } = open(
      t,
      `export default async ({ body, json, receivedAt, headers, ...event }, { signal, idempotencyKey }) =>
        JSON.stringify({ body: [Buffer.isBuffer(body), body.toString()], json, receivedAt, headers, event,
          aborted: signal.aborted, idempotencyKey, env: process.env });`,
    );
    const outcome = await run(claimedJob({ route: "code", source: "shop", headers: '{"a":"b"}' }));
    assert.equal(outcome.kind, "succeeded");
    assert.deepEqual(JSON.parse(String("response" in outcome && outcome.response)), {
      body: [true, '{"a":1}'],
      json: { a: 1 },
      receivedAt: "2027-01-15T08:00:00.000Z",
      headers: { a: "b" },
      event: { id: "evt_1", source: "shop", type: "push", contentType: "application/json", attempt: 3 },
      aborted: false,
      idempotencyKey: "code/shop/evt_1",
      env: { GREETING: "hello" },
    });
  });

  test("keeps 1 KiB of its text", async (t) => {
    const { run } = open(t, 'export default () => "ñ".repeat(3000) + "x"');
    assert.deepEqual(await run(), { kind: "succeeded", response: "ñ".repeat(512) });
  });

  test("may use the port of its thread for its own messages", async (t) => {
    const { run } = open(
      t,
      'import { parentPort } from "node:worker_threads"; export default () => { for (const own of [null, "ready", {}]) parentPort.postMessage(own); return "ok"; }',
    );
    assert.deepEqual(await run(), { kind: "succeeded", response: "ok" });
  });

  test("has no json if the payload is none", async (t) => {
    const { run } = open(t, "export default ({ json }) => String(json)");
    for (const job of [{ contentType: "text/plain" }, { payload: Buffer.from("{") }]) {
      assert.deepEqual(await run(claimedJob(job)), { kind: "succeeded", response: "undefined" });
    }
  });

  test("may import files, packages beside it and modules of Node", async (t) => {
    const { run, dir } = open(
      t,
      'import { value } from "./other.mjs"; import { basename } from "node:path"; export default () => basename(value);',
    );
    writeFileSync(join(dir, "other.mjs"), 'export const value = "a/b";');
    assert.deepEqual(await run(), { kind: "succeeded", response: "b" });
  });

  test("fails an attempt with the error of its function, and goes on in the same thread", async (t) => {
    const { run, started } = open(
      t,
      'let n = 0; export default () => { if (n++ === 0) throw new Error("no"); return String(n); }',
    );
    assert.deepEqual(await run(), { kind: "failed", error: "no" });
    assert.deepEqual(await run(), { kind: "succeeded", response: "2" });
    assert.equal(started.threads, 1);
  });

  test("that rejects without a reason fails the attempt with a message", async (t) => {
    const { run } = open(t, "export default () => Promise.reject();");
    assert.deepEqual(await run(), { kind: "failed", error: "a value without a description was thrown" });
  });

  test("runs each event in a thread that no other event uses meanwhile", async (t) => {
    const { run, started } = open(
      t,
      "let running = 0; export default async () => { const n = ++running; await new Promise((r) => setTimeout(r, 50)); running--; return String(n); }",
    );
    const outcomes = await Promise.all([run(), run(), run()]);
    assert.deepEqual(
      outcomes.map((outcome) => "response" in outcome && outcome.response),
      ["1", "1", "1"],
    );
    assert.equal(started.threads, 3);
    await run();
    assert.equal(started.threads, 3);
  });

  test("has a new thread for an event that comes while its idle thread ends", async (t) => {
    const { run, started } = open(t, 'export default () => "ok"', { idleMs: 1 });
    await run();
    // Set after the timer of the idle thread, so it fires right after it.
    await delay(1);
    assert.deepEqual(await run(), { kind: "succeeded", response: "ok" });
    assert.equal(started.threads, 2);
  });

  test("for which no file descriptor is left can be loaded later", async (t) => {
    const { run } = open(t, 'export default () => "ok"');
    const outcome = await withoutDescriptors(run);
    assert.match(JSON.stringify(outcome), /"unable".*EMFILE/);
    assert.deepEqual(await run(), { kind: "succeeded", response: "ok" });
  });

  for (const [what, body] of [
    ["loops for ever", "for (;;);"],
    ["never settles", "await new Promise(() => setInterval(() => {}, 1000));"],
  ]) {
    test(`that ${what} is ended at the time-out, and the next attempt has a new thread`, async (t) => {
      const { run, started } = open(
        t,
        `export default async ({ type }) => { if (type === "hang") { ${body} } return "ok"; }`,
      );
      assert.equal((await run()).kind, "succeeded");
      const outcome = await run(claimedJob({ type: "hang" }), 100);
      assert.equal(errorOf(outcome), "the handler did not finish within 100 ms");
      assert.deepEqual(await run(), { kind: "succeeded", response: "ok" });
      assert.equal(started.threads, 2);
    });
  }

  test("can clean up when its signal aborts", async (t) => {
    const { run, lines } = open(
      t,
      'export default ({ type }, { signal, log }) => type === "first" || new Promise((_, reject) => signal.addEventListener("abort", () => { log.warn("cleaned up"); reject(signal.reason); }))',
    );
    // Loads the module, which may take longer than the time-out.
    await run(claimedJob({ type: "first" }));
    assert.equal((await run(claimedJob(), 100)).kind, "failed");
    await until(() => lines.some(({ message }) => message === "cleaned up"));
  });

  for (const [what, code, error] of [
    ["ends its thread", "export default () => process.exit(3);", /the thread of the module ended: exit code 3/],
    [
      "has an uncaught error",
      'export default () => new Promise(() => setTimeout(() => { throw new Error("late"); }));',
      /ended: late/,
    ],
    ["cannot be loaded", "export default () => {", /code\.mjs cannot be loaded: /],
    ["has no function", "export default 5;", /code\.mjs has no default export that is a function/],
  ] as const) {
    test(`that ${what} fails the attempt, and is loaded again for the next one`, async (t) => {
      const { run, file } = open(t, code);
      assert.match(String(errorOf(await run())), error);
      writeFileSync(file, 'export default () => "mended";');
      assert.deepEqual(await run(), { kind: "succeeded", response: "mended" });
    });
  }

  test("does not see the port of its thread, over which it could end the server", async (t) => {
    const code = `import { workerData } from "node:worker_threads";
      export default () => { workerData.port?.postMessage(null); return Object.keys(workerData).join(); };`;
    assert.deepEqual(await open(t, code).run(), { kind: "succeeded", response: "file" });
  });

  test("that fills its memory fails the attempt only", async (t) => {
    const { started, run } = open(
      t,
      "export default () => { for (const all = []; ; ) all.push(new Array(1e5).fill({})); };",
      {
        resourceLimits: { maxOldGenerationSizeMb: 32 },
      },
    );
    assert.match(String(errorOf(await run())), /the thread of the module ended: .*memory/i);
    assert.equal(started.threads, 1);
  });

  test("writes to the log, and its output is logged line by line", async (t) => {
    const { run, named } = open(
      t,
      'export default (_, { log }) => { log.info("done", { order: 7 }); log.error("big", { x: "y".repeat(9000) }); console.log("one\\ntwo"); console.error("three"); }',
    );
    await run(claimedJob({ route: "code" }));
    await until(() => named("handler_output").length === 3);
    const [done, big] = named("handler_log");
    assert.deepEqual(
      [done?.message, done?.fields, done?.eventId, done?.route],
      ["done", { order: 7 }, "evt_1", "code"],
    );
    assert.deepEqual([big?.level, big?.fields], ["error", undefined]);
    assert.deepEqual(
      named("handler_output")
        .map(({ message }) => message)
        .sort(),
      ["one", "three", "two"],
    );
  });

  test("logs for the event of a line, even after the function has returned", async (t) => {
    const { run, named } = open(
      t,
      `const first = Promise.withResolvers();
      export default async ({ id }, { log }) => {
        if (id === "one") return void first.promise.then(() => log.info("late"));
        first.resolve();
      };`,
    );
    await run(claimedJob({ eventId: "one" }));
    await run(claimedJob({ eventId: "two" }));
    await until(() => named("handler_log").length === 1);
    assert.deepEqual([named("handler_log")[0]?.message, named("handler_log")[0]?.eventId], ["late", "one"]);
  });

  test("is logged with its last output if it ends its thread after an event", async (t) => {
    const { run, named } = open(
      t,
      'export default () => { process.stdout.write("unfinished"); setTimeout(() => { throw new Error("background"); }, 50); }',
    );
    assert.equal((await run()).kind, "succeeded");
    await until(() => named("handler_thread_ended").length + named("handler_output").length === 2);
    assert.match(String(named("handler_thread_ended")[0]?.error), /background/);
    assert.equal(named("handler_output")[0]?.message, "unfinished");
  });
});
