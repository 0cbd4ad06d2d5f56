import { createIdleThreads } from "../idle-threads.ts";
import { type Evaluator, failed } from "./evaluator.ts";
import type { TransformOutput } from "./expression.ts";
import type { TransformRequest } from "./messages.ts";
import { type Asker, createTurns } from "./turns.ts";

const MAX_EVALUATORS = 2;

/** Creates a transformer on evaluators, which `start` starts. */
export function createTransformer(start: () => Evaluator) {
  const evaluators = createIdleThreads(start);
  const turns = createTurns<() => void>();
  const running: Asker[] = [];

  /** Waits for a place. */
  function enter(asker: Asker): Promise<void> {
    return new Promise((resolve) => {
      turns.add(asker, () => {
        running.push(asker);
        resolve();
      });
      startNext();
    });
  }

  function startNext(): void {
    if (running.length < MAX_EVALUATORS) turns.next(running)?.();
  }

  function leave(asker: Asker): void {
    running.splice(running.indexOf(asker), 1);
    startNext();
  }

  return {
    /**
     * Evaluates for a route. Rejects with a {@link TransformationError} if the expression fails or is too costly, or if
     * there is no evaluator; with its reason when `signal` aborts.
     */
    async run(request: TransformRequest, route: string, signal: AbortSignal): Promise<TransformOutput> {
      const asker = { source: request.event.source, route };
      await enter(asker);
      try {
        signal.throwIfAborted();
        const evaluator = evaluators.take();
        const answer = await evaluator.call(request, signal);
        evaluators.keep(evaluator);
        if ("error" in answer) throw failed(answer.error);
        return answer;
      } finally {
        leave(asker);
      }
    },
    /** Ends the evaluators. No expression is running. */
    close: evaluators.close,
  };
}

/** Evaluates expressions, each within its bounds of time and memory. */
export type Transformer = ReturnType<typeof createTransformer>;
