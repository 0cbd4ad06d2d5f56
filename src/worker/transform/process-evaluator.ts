import type { ChildProcess } from "node:child_process";
import { writeFileSync } from "node:fs";
import { describeError } from "../../errors.ts";
import { TransformationError } from "../handler.ts";
import { type Evaluator, failed, notDone } from "./evaluator.ts";
import type { TransformAnswer, TransformRequest } from "./messages.ts";

type Reply = Exclude<TransformAnswer, "ready"> | { failure: string; isFinal: boolean };

/**
 * Starts a process that evaluates in a thread of its own. V8 ends the whole process at an allocation far beyond the
 * limit of a thread: it must not be that of the server.
 */
export function startProcessEvaluator(startProcess: () => ChildProcess): Evaluator {
  const child = startProcess();
  child.unref();
  child.channel?.unref();
  let fault: Error | undefined;
  let current = Promise.withResolvers<Reply>();
  current.promise.catch(() => {});
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const end = (error: Error) => {
    fault ??= error;
    current.reject(fault);
    child.kill("SIGKILL");
  };
  child.on("message", (reply: Reply) => current.resolve(reply));
  child.once("error", (error) => end(notDone(`its process did not start: ${describeError(error)}`)));
  let isEvaluating = false;
  child.once("exit", (code) => {
    // V8 and the system end a process without memory by a signal.
    const isMemory = isEvaluating && code === null;
    end(isMemory ? failed("the expression takes too much memory") : notDone("its process has ended"));
  });

  return {
    async call(request, signal) {
      if (fault !== undefined) throw fault;
      current = Promise.withResolvers();
      const onAbort = () => end(signal.reason as Error);
      signal.addEventListener("abort", onAbort);
      child.channel?.ref();
      isEvaluating = true;
      try {
        child.send(request, (error) => {
          if (error !== null) end(notDone(`its process has ended: ${describeError(error)}`));
        });
        const reply = await current.promise;
        if (!("failure" in reply)) return reply;
        const { failure, isFinal } = reply;
        throw new TransformationError(failure, { isFinal });
      } catch (error) {
        end(error as Error);
        throw error;
      } finally {
        isEvaluating = false;
        child.channel?.unref();
        signal.removeEventListener("abort", onAbort);
      }
    },
    terminate() {
      end(notDone("its process has ended"));
      child.ref();
      return ended;
    },
  };
}

/** Runs in the process: evaluates what its parent sends. */
export function evaluateForParent(evaluator: Evaluator): void {
  // Of a machine without memory, this process is to be ended first.
  try {
    writeFileSync("/proc/self/oom_score_adj", "1000");
  } catch {}
  // These are for the server, which ends its processes when they are done.
  for (const name of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(name, () => {});
  async function reply(request: TransformRequest): Promise<Reply> {
    try {
      return await evaluator.call(request, new AbortController().signal);
    } catch (error) {
      // The parent ends this process.
      const isFinal = error instanceof TransformationError && error.isFinal;
      return { failure: describeError(error), isFinal };
    }
  }
  process.on("message", async (request: TransformRequest) => process.send?.(await reply(request)));
}
