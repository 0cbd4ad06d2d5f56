import { describeError } from "../errors.ts";
import type { ClaimedJob, Settlement } from "../events/job.ts";
import type { AttemptKind, Breaker } from "./breaker.ts";
import { decide, type HandlerOutcome } from "./decide.ts";
import { type Handler, isOutOfDescriptors, NotTakenError, TargetError, TransformationError } from "./handler.ts";
import type { Route } from "./route.ts";

/** What the attempts of a route are made with. A reload replaces it; attempts that run keep theirs. */
export interface AttemptTools {
  route: Pick<Route, "retry" | "whenStuck" | "timeoutMs" | "concurrency" | "ratePerSecond">;
  handler: Handler;
  breaker: Breaker;
}

/** A claimed job and the controller that interrupts its run. */
export interface ClaimedRun {
  job: ClaimedJob;
  interruption: AbortController;
}

interface AttemptContext {
  owner: string;
  now: () => number;
  monotonic: () => number;
  random: () => number;
  /** Called when it is known what is sent, right before the breaker is asked. */
  onPrepared: () => void;
}

/**
 * Makes what is sent, asks the target and decides the next state of the job. `end` resolves when all work of the run
 * has ended. Null if the breaker lets no attempt begin: the job is as it was claimed.
 */
export async function makeAttempt(
  { job, interruption }: ClaimedRun,
  { route, handler, breaker }: AttemptTools,
  { owner, now, monotonic, random, onPrepared }: AttemptContext,
): Promise<{ settlement: Settlement; end: Promise<unknown> } | null> {
  let startedAt = now();
  let kind: AttemptKind | null = null;
  const extensions: Promise<unknown>[] = [];
  const { retry, timeoutMs, whenStuck } = route;
  const prepared = await prepareEvent(handler, job, interruption.signal);
  onPrepared();
  let outcome: HandlerOutcome;
  if (prepared.kind === "prepared") {
    kind = breaker.begin(monotonic());
    if (kind === null) return null;
    startedAt = now();
    const run: Handler["run"] = (event, signal) => handler.run(event, signal, (until) => extensions.push(until));
    outcome = await runEvent({ ...handler, run }, prepared.event, timeoutMs, interruption.signal);
    tellBreaker(breaker, outcome, { kind, route: job.route, target: handler.target, at: monotonic() });
  } else outcome = prepared;
  const finishedAt = now();
  const facts = {
    attemptOfBudget: job.attemptOfBudget,
    receivedAt: job.receivedAt,
    isProbe: kind === "probe",
    blocks: whenStuck === "block",
  };
  const settlement = {
    event: job.event,
    route: job.route,
    owner,
    attempt: job.attempt,
    next: decide(outcome, facts, retry, finishedAt, random()),
    startedAt,
    finishedAt,
    error: outcome.kind === "succeeded" ? null : outcome.error,
    responseStatus: "status" in outcome ? outcome.status : undefined,
    response: "response" in outcome ? outcome.response : undefined,
  };
  return { settlement, end: Promise.allSettled(extensions) };
}

/** Tells the breaker whether the target was available, even if it refused the event. */
function tellBreaker(
  breaker: Breaker,
  outcome: HandlerOutcome,
  { kind, route, target, at }: { kind: AttemptKind; route: string; target: Handler["target"]; at: number },
): void {
  // A request that could not be made tells nothing of its target.
  const isUnasked = outcome.kind === "failed" && outcome.isUnavailable === undefined && target !== null;
  if (outcome.kind === "interrupted" || isUnasked) breaker.cancel(kind);
  // Without a file descriptor every attempt would fail and be logged: the breaker counts these as failures, too.
  else {
    const isReached = outcome.kind === "succeeded" || (outcome.kind === "failed" && !outcome.isUnavailable);
    const retryAfterMs = outcome.kind === "failed" ? outcome.retryAfterMs : undefined;
    breaker.end(kind, isReached, at, { route, retryAfterMs });
  }
}

const MAX_ERROR_LENGTH = 1000;

/** Makes what is sent of an event. Never throws. */
export async function prepareEvent(
  { prepare }: Pick<Handler, "prepare">,
  event: ClaimedJob,
  interruption: AbortSignal,
): Promise<{ kind: "prepared"; event: ClaimedJob } | Failure> {
  try {
    return { kind: "prepared", event: prepare ? await prepare(event, interruption) : event };
  } catch (error) {
    if (interruption.aborted) return { kind: "interrupted", error: describeError(interruption.reason) };
    return failure(error);
  }
}

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
    const answered = interruption.aborted ? undefined : await Promise.race([run(event, abort.signal), givenUp]);
    return ended ?? { kind: "succeeded", ...answered };
  } catch (error) {
    return ended ?? failure(error);
  } finally {
    clearTimeout(timer);
    clearImmediate(late);
    interruption.removeEventListener("abort", onInterruption);
  }
}

type Failure = Exclude<HandlerOutcome, { kind: "succeeded" }>;

function failure(error: unknown): Failure {
  const text = describeError(error).slice(0, MAX_ERROR_LENGTH);
  if (error instanceof TransformationError) return { kind: error.isFinal ? "unsendable" : "unable", error: text };
  if (error instanceof NotTakenError) return { kind: "not_taken", error: text };
  if (isOutOfDescriptors(error)) return { kind: "unable", error: text };
  if (!(error instanceof TargetError)) return { kind: "failed", error: text };
  const { isUnavailable, retryAfterMs, status, response } = error;
  return { kind: "failed", error: text, isUnavailable, retryAfterMs, status, response };
}
