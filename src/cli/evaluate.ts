import { startThread } from "../platform/checkout.ts";
import { evaluateForParent } from "../worker/transform/process-evaluator.ts";
import { startThreadEvaluator } from "../worker/transform/thread-evaluator.ts";

/** Runs in the process of transformations, until the server that started it is gone. */
export function evaluate(): void {
  evaluateForParent(startThreadEvaluator((options) => startThread("transform", options)));
}
