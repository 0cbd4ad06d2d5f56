import { describeError } from "../../errors.ts";
import type { ClaimedJob, Settlement } from "../../events/job.ts";
import type { Comparison, ComparisonOutcome, Difference } from "../../events/shadow.ts";
import type { EventStore } from "../../events/store.ts";
import { createBatcher } from "../../lib/batch.ts";
import type { Log } from "../../log.ts";
import { prepareEvent, runEvent } from "../attempt.ts";
import type { Handler, HttpAnswer } from "../handler.ts";
import type { HttpTarget } from "../route.ts";
import { differenceOf } from "./compare.ts";

/** A route that gets the events that another route has sent, so that their answers can be compared. */
export interface ShadowRoute {
  name: string;
  /** The route that it shadows. */
  of: string;
  /** Paths of members of answers that may differ. */
  ignore: readonly string[];
  handler: HttpTarget;
  /** An expression of its own. Null: it sends what its route has sent. */
  transform: string | null;
  /** Whether its route sends the result of an expression. */
  ofTransform: boolean;
  timeoutMs: number;
  /** Attempts at once. */
  concurrency: number;
}

interface ShadowsOptions {
  store: Pick<EventStore, "addComparisons">;
  log: Log;
  now: () => number;
  onCompared: (shadow: string, outcome: ComparisonOutcome) => void;
}

// What waits for a shadow that is slower than its route.
const MAX_WAITING = 100;
const MAX_WAITING_BYTES = 8 * 1024 * 1024;

interface Task {
  job: ClaimedJob;
  expected: Promise<HttpAnswer>;
}

/**
 * Creates the shadows of a process. They have no effect on events, jobs or other routes. They never throw: failures are
 * counted or logged.
 */
export function createShadows({ store, log, now, onCompared }: ShadowsOptions) {
  const comparisons = createBatcher(async (batch: Comparison[]) => {
    await store.addComparisons(batch);
    return batch;
  });
  /** By the attempt's job, which the worker drops when it has recorded the attempt. */
  const answers = new WeakMap<ClaimedJob, Promise<HttpAnswer>>();
  /** The attempt's job by the event that is sent instead. */
  const claimed = new WeakMap<ClaimedJob, ClaimedJob>();
  const stopping = new AbortController();
  let shadows: RunningShadow[] = [];

  async function record(job: ClaimedJob, route: string, result: Result): Promise<void> {
    onCompared(route, result.outcome);
    try {
      await comparisons.add({ event: job.event, route, at: now(), ...result });
    } catch (error) {
      log.error({ event: "worker_error", route, error: describeError(error) }, "a comparison could not be recorded");
    }
  }

  return {
    /** Compares with these shadows from now on, at first with none. */
    apply(routes: readonly ShadowRoute[], createHandler: (route: ShadowRoute) => Handler): void {
      for (const shadow of shadows) shadow.retire();
      shadows = routes.map((route) => createShadow(route, createHandler(route), stopping.signal, record));
    },
    /** Lets the handler of a route keep the answer of each attempt, if the route has a shadow. */
    watch(route: string, handler: Handler): Handler {
      if (!shadows.some(({ of }) => of === route)) return handler;
      const { prepare } = handler;
      return {
        ...handler,
        ...(prepare && {
          async prepare(job, signal) {
            const sent = await prepare(job, signal);
            claimed.set(sent, job);
            return sent;
          },
        }),
        run: (sent, signal, waitUntil) =>
          handler.run(sent, signal, waitUntil, (answer) => void answers.set(claimed.get(sent) ?? sent, answer)),
      };
    },
    /** Gives the event of a job that has ended to the shadows of its route, if the last attempt had an answer. */
    onSettled(job: ClaimedJob, { next }: Settlement, isLeased: boolean) {
      const expected = answers.get(job);
      if (!isLeased || next.to === "queued" || expected === undefined) return;
      for (const shadow of shadows) if (shadow.of === job.route) shadow.add({ job, expected });
    },
    /** Interrupts what runs, and records what was compared. */
    async stop(): Promise<void> {
      stopping.abort(new Error("the server stopped"));
      await Promise.all(shadows.map((shadow) => shadow.retire()));
      await comparisons.flush();
    },
  };
}

type RunningShadow = ReturnType<typeof createShadow>;

/** The result of one comparison. */
type Result = Pick<Comparison, "outcome" | "difference">;

function createShadow(
  route: ShadowRoute,
  handler: Handler,
  stopped: AbortSignal,
  record: (job: ClaimedJob, route: string, result: Result) => Promise<void>,
) {
  const waiting: Task[] = [];
  const running = new Set<Promise<void>>();
  let waitingBytes = 0;
  let isRetired = false;

  function startNext(): void {
    const task = waiting.shift();
    if (task === undefined) return;
    waitingBytes -= task.job.payload.length;
    const run = compare(task).finally(() => {
      running.delete(run);
      startNext();
    });
    running.add(run);
  }

  async function compare({ job, expected }: Task): Promise<void> {
    const result = await resultOf(route, handler, { job, expected }, stopped);
    if (result !== null) await record(job, route.name, result);
  }

  return {
    of: route.of,
    add(task: Task): void {
      if (isRetired) return;
      const bytes = task.job.payload.length;
      const isFull = waiting.length >= MAX_WAITING || (waiting.length > 0 && waitingBytes + bytes > MAX_WAITING_BYTES);
      if (isFull) return void record(task.job, route.name, { outcome: "skipped", difference: null });
      waiting.push(task);
      waitingBytes += bytes;
      if (running.size < route.concurrency) startNext();
    },
    /** Drops what waits. Resolves when what runs has ended, and its handler is closed. */
    async retire(): Promise<void> {
      isRetired = true;
      waiting.length = 0;
      await Promise.all(running);
      await handler.close();
    },
  };
}

/** Sends the event of a job to a shadow, once, and compares the answers. Null if it was interrupted. */
async function resultOf(
  { name, ignore, timeoutMs }: ShadowRoute,
  handler: Handler,
  { job, expected }: Task,
  stopped: AbortSignal,
): Promise<Result | null> {
  const answers: Promise<HttpAnswer>[] = [];
  const sent = { ...job, route: name, attempt: 1, countedAttempt: 1, attemptOfBudget: 1 };
  const run: Handler["run"] = (event, signal) =>
    handler.run(event, signal, undefined, (answer) => void answers.push(answer));
  const prepared = await prepareEvent(handler, sent, stopped);
  const outcome =
    prepared.kind === "prepared" ? await runEvent({ ...handler, run }, prepared.event, timeoutMs, stopped) : prepared;
  if (outcome.kind === "interrupted") return null;
  const [first, found] = [await expected, await answers.at(-1)];
  if (found === undefined) {
    const reason = outcome.kind === "succeeded" ? "no answer" : outcome.error;
    return { outcome: "failed", difference: { place: "answer", expected: String(first.status), found: reason } };
  }
  return compared(differenceOf(first, found, ignore));
}

function compared(difference: Difference | null | undefined): Result {
  if (difference === undefined) return { outcome: "skipped", difference: null };
  return { outcome: difference === null ? "same" : "different", difference };
}
