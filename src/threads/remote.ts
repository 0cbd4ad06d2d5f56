import type { MessagePort, Transferable, Worker } from "node:worker_threads";
import { AppError, describeError, type ErrorCode } from "../errors.ts";
import { Slots } from "../slots.ts";

/** A call on its way to another thread. */
export interface Call {
  call: number;
  target: string;
  method: string;
  args: unknown[];
  patient: boolean;
}

/** How a call is sent. */
interface CallOptions {
  /** Moved instead of copied. */
  transfer?: Transferable[];
  /** No client waits for this call: it may be held back a moment, to share the commit of those that follow. */
  patient?: boolean;
}

/** What came of a call: its result or its error, under its number. */
export type Answer = { call: number; result: unknown } | { call: number; error: Failure };

/** An error on its way back: an {@link AppError} without its headers, any other one as its message. */
export type Failure = { message: string } & (
  | { code: null }
  | ({ code: ErrorCode } & Pick<AppError, "retryAfterSeconds" | "errors" | "members">)
);

/** The other side of a port, whose calls run on the thread behind it. */
export interface Remote {
  call<T>(target: string, method: string, args: unknown[], options?: CallOptions): Promise<T>;
  /** Rejects what is under way, and every later call, with `store_unavailable`. */
  fail(reason: Error): void;
}

/** Speaks to {@link createAnswering}, or to `answerCalls`, at the other end of the port. */
export function createRemote(port: MessagePort | Worker): Remote {
  const pending = new Slots<{ resolve: (result: never) => void; reject: (error: Error) => void }>();
  let failure: Error | null = null;

  port.on("message", (answers: Answer[]) => {
    for (const answer of answers) {
      const waiter = pending.take(answer.call);
      if ("error" in answer) waiter?.reject(toError(answer.error));
      else waiter?.resolve(answer.result as never);
    }
  });

  return {
    call(target, method, args, { transfer = [], patient = false } = {}) {
      if (failure) return Promise.reject(unavailable(failure));
      return new Promise((resolve, reject) => {
        const call = pending.put({ resolve, reject });
        port.postMessage({ call, target, method, args, patient } satisfies Call, transfer);
      });
    },
    fail(reason) {
      failure = reason;
      for (const { reject } of pending) reject(unavailable(reason));
    },
  };
}

function unavailable(cause: Error): AppError {
  return new AppError("store_unavailable", { retryAfterSeconds: 1, cause });
}

function toError({ message, ...failure }: Failure): Error {
  const cause = new Error(message);
  if (failure.code === null) return cause;
  const { code, ...options } = failure;
  return new AppError(code, { cause, ...options });
}

type Targets = Record<string, Record<string, (...args: never[]) => unknown>>;

/** Runs the method that a call names. */
export function runCall(targets: object, { target, method, args }: Call): unknown {
  const run = (targets as Targets)[target]?.[method];
  if (!run) throw new Error(`no ${target}.${method}`);
  return run(...(args as never[]));
}

/** Runs a group as one transaction: when it throws, nothing of the group has happened. */
export type Together = <T>(run: () => T) => T;

// While deliveries come in, the worker's calls wait for the next of their groups: a commit of their own would hold up
// the deliveries behind it. Measured at 64 connections: a third fewer commits.
const BUSY_MS = 5;
const PATIENCE_MS = 2;

/**
 * Answers the calls that come through ports, in their order. What has come by the time the thread looks is one group;
 * its answers leave when the group has been run. When one call of several fails, each is run again by itself, so that it
 * alone fails; when the transaction cannot even begin, all fail at once. Returns a function that adds a port.
 */
export function createAnswering(targets: object, together: Together): (port: MessagePort) => void {
  let group: { call: Call; port: MessagePort }[] = [];
  let due: "no" | "later" | "now" = "no";
  let later: NodeJS.Timeout | undefined;
  let lastUrgentAt = Number.NEGATIVE_INFINITY;

  function answer(call: Call): Answer {
    return { call: call.call, result: runCall(targets, call) };
  }

  function answerAlone(call: Call): Answer {
    try {
      return together(() => answer(call));
    } catch (error) {
      return { call: call.call, error: fromError(error) };
    }
  }

  function runGroup(): void {
    const calls = group;
    group = [];
    due = "no";
    let answers: Answer[];
    let hasBegun = false;
    try {
      answers = together(() => {
        hasBegun = true;
        return calls.map(({ call }) => answer(call));
      });
    } catch (error) {
      // A database that another process holds would be waited for again for each call.
      const mayDiffer = hasBegun && calls.length > 1;
      answers = calls.map(({ call }) => (mayDiffer ? answerAlone(call) : { call: call.call, error: fromError(error) }));
    }
    const byPort = Map.groupBy(answers.keys(), (index) => (calls[index] as (typeof calls)[number]).port);
    for (const [port, indexes] of byPort) port.postMessage([...indexes].map((index) => answers[index]));
  }

  function schedule(patient: boolean): void {
    const now = performance.now();
    if (!patient) lastUrgentAt = now;
    if (due === "now" || (due === "later" && patient)) return;
    clearTimeout(later);
    if (patient && now - lastUrgentAt < BUSY_MS) {
      due = "later";
      later = setTimeout(runGroup, PATIENCE_MS);
    } else {
      due = "now";
      setImmediate(runGroup);
    }
  }

  return (port) =>
    port.on("message", (call: Call) => {
      group.push({ call, port });
      schedule(call.patient);
    });
}

/** Makes an error, or whatever else was thrown, ready to cross to another thread. */
export function fromError(error: unknown): Failure {
  if (!(error instanceof AppError)) return { code: null, message: describeError(error) };
  const { code, retryAfterSeconds, errors, members } = error;
  return { code, retryAfterSeconds, errors, members, message: describeError(error.cause ?? error) };
}
