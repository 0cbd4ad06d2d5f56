import { systemCode } from "../errors.ts";
import type { ClaimedJob } from "../events/job.ts";

/** Processes the events of one route, until it is closed. */
export interface Handler {
  /**
   * Makes the event that is sent, if it is not the event itself. This runs before the attempt asks its target, without
   * its time limit. Throws a {@link TransformationError} if the expression cannot be evaluated.
   */
  prepare?: Prepare;
  /** Runs one attempt. */
  run: EventHandler;
  /**
   * The target that its breaker counts, shared by the routes that have it. Null: a local handler, which is always
   * there.
   */
  target: string | null;
  /**
   * Whether a run ends soon after its signal. Its attempt then ends when the run has, so that no run outlives its
   * attempt.
   */
  endsWithSignal: boolean;
  /** Ends connections and threads. No attempt is running. */
  close(): Promise<void>;
}

/** Returns an event with what is sent of it. Rejects soon after `signal` aborts. */
type Prepare = (event: ClaimedJob, signal: AbortSignal) => Promise<ClaimedJob>;

/**
 * Processes one event. It may run again for the same event, with the same `eventId` as idempotency key. Returns what
 * the target has answered, if it has; throws to fail the attempt. When `signal` aborts, the handler should stop: its
 * result is ignored. Work that continues after the result is passed to `waitUntil`.
 */
export type EventHandler = (
  event: ClaimedJob,
  signal: AbortSignal,
  waitUntil?: WaitUntil,
  onAnswer?: OnAnswer,
  // biome-ignore lint/suspicious/noConfusingVoidType: a handler without a response returns nothing
) => Promise<Answered | void>;

/** The answer of a target over HTTP. */
export interface HttpAnswer {
  status: number;
  /** The beginning of the body, or all of it. */
  body: Uint8Array;
  isWhole: boolean;
}

/** Called when a target has begun to answer. The answer resolves when its body has ended, or is cut. */
export type OnAnswer = (answer: Promise<HttpAnswer>) => void;

/** What a target has answered. */
export interface Answered {
  /** The HTTP status. */
  status?: number | undefined;
  /** The beginning of the response. */
  response?: string | undefined;
}

/** A handler's failure, with what is known of the target. */
export class TargetError extends Error {
  /** Whether the target could not be reached, or answered that it is unavailable. */
  readonly isUnavailable: boolean;
  /** The wait that the target asked for. */
  readonly retryAfterMs: number | undefined;
  /** The HTTP status of its response. */
  readonly status: number | undefined;
  /** The beginning of its response. */
  readonly response: string | undefined;

  constructor(message: string, options: TargetErrorOptions) {
    super(message, { cause: options.cause });
    this.name = "TargetError";
    this.isUnavailable = options.isUnavailable;
    this.retryAfterMs = options.retryAfterMs;
    this.status = options.status;
    this.response = options.response;
  }
}

/** The route does not take the event, or cannot judge it. No further attempt is made. */
export class NotTakenError extends Error {}

interface TargetErrorOptions {
  isUnavailable: boolean;
  retryAfterMs?: number | undefined;
  status?: number | undefined;
  response?: string | undefined;
  cause?: unknown;
}

/** What is sent could not be made of an event. */
export class TransformationError extends Error {
  /** Whether another attempt would fail as well: the event and the expression are at fault, and not this process. */
  readonly isFinal: boolean;

  constructor(message: string, { isFinal, cause }: { isFinal: boolean; cause?: unknown }) {
    super(message, { cause });
    this.isFinal = isFinal;
  }
}

/** Counts the run as running, for the concurrency limit, until the promise settles. */
export type WaitUntil = (until: Promise<unknown>) => void;

/**
 * Whether no file descriptor was left. Clients with many connections can cause this: neither the event nor its target
 * is at fault.
 */
export function isOutOfDescriptors(error: unknown): boolean {
  return error instanceof Error && /^E[MN]FILE$/.test(systemCode(error));
}
