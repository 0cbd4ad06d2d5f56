import type { MessagePort } from "node:worker_threads";
import { type Answer, type Call, fromError, runCall } from "./remote.ts";

/** Answers the calls that come through a port, each as soon as its method is done. */
export function answerCalls(targets: object, port: MessagePort): void {
  async function answer(call: Call): Promise<Answer> {
    try {
      return { call: call.call, result: await runCall(targets, call) };
    } catch (error) {
      return { call: call.call, error: fromError(error) };
    }
  }
  port.on("message", async (call: Call) => port.postMessage([await answer(call)]));
}
