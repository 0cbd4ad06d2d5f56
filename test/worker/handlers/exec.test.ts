import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { suite, type TestContext, test } from "node:test";
import type { ClaimedJob } from "../../../src/events/job.ts";
import { runEvent } from "../../../src/worker/attempt.ts";
import { createExecHandler } from "../../../src/worker/handlers/exec.ts";
import { claimedJob } from "../../helpers/job.ts";
import { tempDir } from "../../helpers/temp-dir.ts";
import { HANG_MS, until } from "../../helpers/until.ts";
import { withoutDescriptors } from "./descriptors.ts";

const NEVER = new AbortController().signal;
const ENVIRONMENT = { PATH: process.env.PATH, GREETING: "hello" };

/** Runs a script as the command. `$0` in the script is not a shell of ours: the command names the shell itself. */
function run(
  t: TestContext,
  script: string,
  { job = claimedJob() as ClaimedJob, timeoutMs = HANG_MS, folder = tempDir(t) } = {},
) {
  const handler = createExecHandler({ kind: "exec", command: ["/bin/sh", "-c", script], folder }, ENVIRONMENT);
  return runEvent(handler, job, timeoutMs, NEVER);
}

const isRunning = (pid: number) => {
  try {
    process.kill(pid, 0);
    // A zombie has ended.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
};

suite("a command", () => {
  test("gets the payload, and succeeds with exit code 0 and the beginning of its output", async (t) => {
    const payload = Buffer.from([0x7b, 0xc3, 0xb1, 0x00, 0xff]);
    const outcome = await run(t, "od -An -tx1; echo oops >&2", { job: claimedJob({ payload }) });
    assert.deepEqual(outcome, { kind: "succeeded", response: " 7b c3 b1 00 ff\noops\n" });
  });

  test("gets the event's identity in its environment, beside the given one", async (t) => {
    const outcome = await run(t, "env | grep -E 'AUTHSERVE|GREETING' | sort", {
      job: claimedJob({ route: "deploy", source: "github", eventId: "a b\nc" }),
    });
    assert.deepEqual(outcome.kind === "succeeded" && outcome.response?.split("\n").slice(0, 5), [
      "AUTHSERVE_ATTEMPT=3",
      "AUTHSERVE_CONTENT_TYPE=application/json",
      "AUTHSERVE_EVENT_ID=a b",
      "AUTHSERVE_EVENT_SOURCE=github",
      "AUTHSERVE_EVENT_TYPE=push",
    ]);
    assert.match(
      String(outcome.kind === "succeeded" && outcome.response),
      /_KEY=deploy\/github\/a b\n.*_ROUTE=deploy\n.*GREETING=hello/s,
    );
  });

  test("runs without a shell, in its folder", async (t) => {
    const folder = tempDir(t);
    const handler = createExecHandler({ kind: "exec", command: ["touch", "a; touch b", "$HOME"], folder }, ENVIRONMENT);
    assert.equal((await runEvent(handler, claimedJob(), 60_000, NEVER)).kind, "succeeded");
    assert.deepEqual(
      ["a; touch b", "$HOME", "b"].map((name) => existsSync(join(folder, name))),
      [true, true, false],
    );
  });

  for (const [what, script, error] of [
    ["another exit code", "echo no; exit 3", "the command exited with 3"],
    ["a signal", "echo no; kill -TERM $$", "the command was ended by SIGTERM"],
  ] as const) {
    test(`fails with ${what}, and keeps its output`, async (t) => {
      const outcome = await run(t, script);
      assert.deepEqual(
        [outcome.kind, "error" in outcome && outcome.error, "response" in outcome && outcome.response],
        ["failed", error, "no\n"],
      );
    });
  }

  test("that cannot be started fails with the reason", async () => {
    const handler = createExecHandler({ kind: "exec", command: ["/no/such/command"], folder: "/" }, ENVIRONMENT);
    const outcome = await runEvent(handler, claimedJob(), 60_000, NEVER);
    assert.equal("error" in outcome && outcome.error, "the command cannot be started (ENOENT)");
  });

  test("for which no file descriptor is left can be started later", async () => {
    const handler = createExecHandler({ kind: "exec", command: ["true"], folder: "/" }, ENVIRONMENT);
    const outcome = await withoutDescriptors(() => runEvent(handler, claimedJob(), 60_000, NEVER));
    assert.deepEqual(outcome, { kind: "unable", error: "EMFILE: spawn true EMFILE" });
    assert.equal((await runEvent(handler, claimedJob(), 60_000, NEVER)).kind, "succeeded");
  });

  test("that does not read its input succeeds", async (t) => {
    const outcome = await run(t, "exec true", { job: claimedJob({ payload: Buffer.alloc(1_000_000) }) });
    assert.equal(outcome.kind, "succeeded");
  });

  test("keeps 1 KiB of endless output", async (t) => {
    const outcome = await run(t, "yes ñ | head -c 3000000");
    assert.equal(outcome.kind === "succeeded" && Buffer.byteLength(outcome.response ?? ""), 1023, "no half character");
  });

  test("is ended at the time-out with all processes of its group, before its attempt ends", async (t) => {
    const folder = tempDir(t);
    const script = "sleep 600 & echo $! >pids; echo $$ >>pids; trap '' TERM; wait; sleep 600";
    // On a busy machine a shell may not get that far before its time-out.
    const pids = await until(async () => {
      const outcome = await run(t, script, { timeoutMs: 1000, folder });
      assert.equal("error" in outcome && outcome.error, "the handler did not finish within 1000 ms");
      const lines = existsSync(join(folder, "pids"))
        ? readFileSync(join(folder, "pids"), "utf8").trim().split("\n")
        : [];
      return lines.length === 2 ? lines.map(Number) : null;
    });
    assert.equal(isRunning(pids[1] as number), false);
    await until(() => !pids.some(isRunning));
  });

  test("ends its attempt even if a program in the background keeps its output open", async (t) => {
    const folder = tempDir(t);
    assert.equal((await run(t, "sleep 600 & echo $! >pid; echo done", { folder })).kind, "succeeded");
    process.kill(Number(readFileSync(join(folder, "pid"), "utf8")), "SIGKILL");
  });
});
