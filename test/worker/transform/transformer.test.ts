import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { after, suite, test } from "node:test";
import { Worker } from "node:worker_threads";
import type { ClaimedJob } from "../../../src/events/job.ts";
import { startEvaluatorProcess, startThread } from "../../../src/platform/checkout.ts";
import { OWN_PROCESS } from "../../../src/platform/own-process.ts";
import { jsonOf } from "../../../src/webhook/content/stored-content.ts";
import type { TransformationError } from "../../../src/worker/handler.ts";
import { transformed } from "../../../src/worker/transform/handler.ts";
import { startProcessEvaluator } from "../../../src/worker/transform/process-evaluator.ts";
import { startThreadEvaluator } from "../../../src/worker/transform/thread-evaluator.ts";
import { createTransformer } from "../../../src/worker/transform/transformer.ts";
import { claimedJob } from "../../helpers/job.ts";

const NEVER = new AbortController().signal;

// A busy machine takes longer for what is no loop.
const boundedTransformer = (timeoutMs: number) =>
  createTransformer(() =>
    startThreadEvaluator((options) => startThread("transform", options), { timeoutMs, memoryMb: 64 }),
  );
const transformer = boundedTransformer(20_000);
after(() => transformer.close());

/** What an expression makes of a payload, as text, and its content type. */
async function made(expression: string, payload: string, contentType = "application/json", used = transformer) {
  const job = claimedJob({ payload: Buffer.from(payload), contentType, headers: '{"x-a":"b"}', receivedAt: 0 });
  const output = await transformed(job, expression, { transformer: used, jsonOf }, NEVER);
  return [Buffer.from(output.payload).toString(), output.contentType];
}

suite("a transformation", () => {
  test("is JSON, or text if the result is text", async () => {
    assert.deepEqual(await made("{ 'text': 'paid ' & $.data.amount }", '{"data":{"amount":5}}'), [
      '{"text":"paid 5"}',
      "application/json",
    ]);
    assert.deepEqual(await made("'ñ'", "{}"), ["ñ", "text/plain; charset=utf-8"]);
    assert.deepEqual(await made("null", "{}"), ["null", "application/json"]);
  });

  test("keeps all digits of numbers, and computes with those of a double", async () => {
    const payload =
      '{"id":12345678901234567890,"part":0.12345678901234567891,"micro":1712345678901234,"sum":19.990000000000002}';
    assert.equal((await made("$", payload))[0], payload);
    assert.equal(
      (await made("'n ' & id & ' ' & $string(part)", payload))[0],
      "n 12345678901234567890 0.12345678901234567891",
    );
    assert.equal((await made("[micro + 1, sum * 2]", payload))[0], "[1712345678901235,39.980000000000004]");
  });

  test("keeps all digits of numbers that it copies, and compares them with those that it has itself", async () => {
    const order = '{"id":12345678901234567890,"lines":[{"id":12345678901234567891,"at":0.1234567890123456}]}';
    assert.equal((await made("$ ~> |lines|{'new': true}|", order))[0], order.replace("56}", '56,"new":true}'));
    assert.equal((await made("$clone($)", order))[0], order);
    assert.equal((await made("$", `\uFEFF${order}`))[0], order, "a byte order mark, as programs in .NET write it");
    assert.equal((await made("lines[id=12345678901234567891].at", order))[0], "0.1234567890123456");
    assert.equal((await made("id != 12345678901234567891 and -12345678901234567890 != id", order))[0], "true");
    assert.equal((await made("id = 12345678901234567891", order))[0], "false");
  });

  test("reads forms, JSON in a form, and JSON that is not quite right", async () => {
    const form = "application/x-www-form-urlencoded";
    assert.equal((await made("$", "a=1&b=x&b=y", form))[0], '{"a":"1","b":["x","y"]}');
    assert.equal((await made("$.ref", `payload=${encodeURIComponent('{"ref":"main"}')}`, form))[0], "main");
    assert.equal((await made("$.a", '{"a":"b",}'))[0], "b");
    assert.equal((await made("$exists($)", "no JSON", "text/plain"))[0], "false");
  });

  test("may use the event itself", async () => {
    const expression = "$join([$event.id, $event.type, $event.source, $event.receivedAt, $event.headers.`x-a`], ' ')";
    assert.equal((await made(expression, "{}"))[0], "evt_1 push default 1970-01-01T00:00:00.000Z b");
  });

  for (const [expression, reason] of [
    ["nothing.there", "the expression gives nothing that JSON can have"],
    ["function($x){ $x }", "the expression gives nothing that JSON can have"],
    [
      "secret + 1",
      'the expression failed at character 8: T2001, The left side of the "+" operator must evaluate to a number',
    ],
    ["$number(secret)", "the expression failed at character 8: D3030 of jsonata"],
    ["$error(secret)", "the expression failed at character 7: D3137 of jsonata"],
    ["id > 1", /^the expression failed at character 4: T2010, /],
  ] as const) {
    test(`${expression} fails with a reason that has no value of the payload`, async () => {
      const failure = made(expression, '{"secret":"hunter2","id":12345678901234567890}');
      await assert.rejects(failure, ({ message }: Error) => {
        const text = message.replace("the transformation failed: ", "");
        if (typeof reason === "string") assert.equal(text, reason);
        else assert.match(text, reason);
        assert.doesNotMatch(message, /hunter2|123456/);
        return true;
      });
    });
  }

  test("that loops is ended, and the next one works", async (t) => {
    const bounded = boundedTransformer(1000);
    t.after(() => bounded.close());
    const loop = "($f := function($n){ $f($n + 1) }; $f(0))";
    await assert.rejects(made(loop, "{}", "application/json", bounded), /the expression takes over 1000 ms$/);
    await assert.rejects(
      made("$match($, /^(a+)+$/)", `"${"a".repeat(60)}b"`, "application/json", bounded),
      /over 1000 ms$/,
    );
    assert.equal((await made("1", "{}"))[0], "1");
  });

  test("that fails in one member and loops in another does not burden the next one", async (t) => {
    const bounded = boundedTransformer(1000);
    t.after(() => bounded.close());
    const both = "{ 'a': $error('no'), 'b': ($f := function($n){ $f($n + 1) }; $f(0)) }";
    await assert.rejects(made(both, "{}", "application/json", bounded), /the expression takes over 1000 ms$/);
    assert.equal((await made("1", "{}", "application/json", bounded))[0], "1");
  });

  for (const [whose, victim] of [
    ["another source", { source: "victim" }],
    ["another route", { route: "victim" }],
  ] as const) {
    test(`of ${whose} waits only for those that run, however many costly ones wait`, async (t) => {
      const bounded = boundedTransformer(100);
      t.after(() => bounded.close());
      const ended: string[] = [];
      const run = async (changes: Partial<ClaimedJob>, expression: string) => {
        const job = claimedJob({ payload: Buffer.from("{}"), ...changes });
        await transformed(job, expression, { transformer: bounded, jsonOf }, NEVER).catch(() => {});
        ended.push("source" in changes || "route" in changes ? "victim" : "hostile");
      };
      const hostile = Array.from({ length: 8 }, () => run({}, "($f := function($n){ $f($n + 1) }; $f(0))"));
      await Promise.all([...hostile, run(victim, "1")]);
      assert.ok(ended.indexOf("victim") <= 2, ended.join());
    });
  }

  test("that needs much memory is ended", async () => {
    const doubling = "($f := function($a, $n){ $n = 0 ? $a : $f($append($a, $a), $n - 1) }; $count($f([1], 40)))";
    await assert.rejects(made(doubling, "{}"), (error: TransformationError) => {
      assert.match(error.message, /the expression takes over 64 MiB$/);
      assert.equal(error.isFinal, true);
      return true;
    });
  });

  // V8 ends the process at an allocation far beyond the limit.
  for (const expression of ["[1..9999999]", "$zip([1..5000000], [1..5000000])"])
    test(`${expression} ends a process of its own only, and the next one works`, async (t) => {
      const apart = createTransformer(() => startProcessEvaluator(startEvaluatorProcess));
      t.after(() => apart.close());
      await assert.rejects(made(expression, "{}", "application/json", apart), (error: TransformationError) => {
        assert.match(error.message, /the expression takes (?:too much memory|over 64 MiB|over 1000 ms)$/);
        assert.equal(error.isFinal, true);
        return true;
      });
      assert.equal((await made("1", "{}", "application/json", apart))[0], "1");
      const loop = "($f := function($n){ $f($n + 1) }; $f(0))";
      await assert.rejects(made(loop, "{}", "application/json", apart), /the expression takes over 1000 ms$/);
    });

  test("whose process cannot start is this server's fault", async (t) => {
    const broken = createTransformer(() => startProcessEvaluator(() => spawn("/nowhere/authserve", OWN_PROCESS)));
    t.after(() => broken.close());
    await assert.rejects(made("1", "{}", "application/json", broken), (error: TransformationError) => {
      assert.match(error.message, /^the transformation could not be made: its process/);
      assert.equal(error.isFinal, false);
      return true;
    });
  });

  test("whose thread cannot start is this server's fault", async (t) => {
    const broken = createTransformer(() =>
      startThreadEvaluator(() => new Worker("throw new Error('no memory')", { eval: true })),
    );
    t.after(() => broken.close());
    await assert.rejects(made("1", "{}", "application/json", broken), (error: TransformationError) => {
      assert.equal(error.message, "the transformation could not be made: its thread did not start: no memory");
      assert.equal(error.isFinal, false);
      return true;
    });
  });

  test("ends with its signal", async () => {
    const abort = new AbortController();
    const job = claimedJob({ payload: Buffer.from("{}") });
    const running = transformed(
      job,
      "($f := function($n){ $f($n + 1) }; $f(0))",
      { transformer, jsonOf },
      abort.signal,
    );
    abort.abort(new Error("the server stopped"));
    await assert.rejects(running, /the server stopped/);
  });
});
