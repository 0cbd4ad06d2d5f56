import { describeError } from "../errors.ts";
import type { ClaimedJob } from "../events/job.ts";
import type { HandlerOutcome } from "./decide.ts";
import { type Handler, isOutOfDescriptors, TargetError } from "./handler.ts";

const MAX_ERROR_LENGTH = 1000;

/**
 * Runs the handler within a time limit and never throws. Waits for the end of a run only if it ends with its signal:
 * another one may ignore the signal.
 */
export async function runEvent(
  { run, target, endsWithSignal }: Pick<Handler, "run" | "target" | "endsWithSignal">,
  event: ClaimedJob,
  timeoutMs: number,
  interruption: AbortSignal,
): Promise<HandlerOutcome> {
  // One controller: AbortSignal.any and AbortSignal.timeout cost more time than a quick handler.
  const abort = new AbortController();
  let ended: HandlerOutcome | undefined;
  let giveUp: () => void = () => {};
  const givenUp = new Promise<undefined>((resolve) => {
    giveUp = () => resolve(undefined);
  });
  const end = (outcome: HandlerOutcome & { error: string }) => {
    ended ??= outcome;
    abort.abort(new Error(outcome.error));
    if (!endsWithSignal) giveUp();
  };
  const onInterruption = () => end({ kind: "interrupted", error: describeError(interruption.reason) });
  const onTimeout = () => {
    end({ kind: "failed", error: `the handler did not finish within ${timeoutMs} ms`, isUnavailable: target !== null });
  };
  let late: NodeJS.Immediate | undefined;
  // After a pause of the process, input that has arrived for the handler is read before the time-out counts.
  const timer = setTimeout(() => {
    late = setImmediate(onTimeout);
  }, timeoutMs);
  interruption.addEventListener("abort", onInterruption);
  try {
    if (interruption.aborted) onInterruption();
    const response = interruption.aborted ? undefined : await Promise.race([run(event, abort.signal), givenUp]);
    return ended ?? { kind: "succeeded", response: response ?? undefined };
  } catch (error) {
    return ended ?? failure(error);
  } finally {
    clearTimeout(timer);
    clearImmediate(late);
    interruption.removeEventListener("abort", onInterruption);
  }
}

function failure(error: unknown): HandlerOutcome {
  const text = describeError(error).slice(0, MAX_ERROR_LENGTH);
  if (isOutOfDescriptors(error)) return { kind: "out_of_descriptors", error: text };
  if (!(error instanceof TargetError)) return { kind: "failed", error: text };
  const { isUnavailable, retryAfterMs, status, response } = error;
  return { kind: "failed", error: text, isUnavailable, retryAfterMs, status, response };
}
