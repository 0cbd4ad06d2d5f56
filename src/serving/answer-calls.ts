import type { MessagePort } from "node:worker_threads";
import { type Answer, type Call, fromError, type Targets } from "../storage/remote.ts";

/** Answers the calls that come through a port, each as soon as its method is done. */
export function answerCalls(targets: object, port: MessagePort): void {
  async function answer({ call, target, method, args }: Call): Promise<Answer> {
    try {
      const run = (targets as Targets)[target]?.[method];
      if (!run) throw new Error(`no ${target}.${method}`);
      return { call, result: await run(...(args as never[])) };
    } catch (error) {
      return { call, error: fromError(error) };
    }
  }
  port.on("message", async (call: Call) => port.postMessage([await answer(call)]));
}
