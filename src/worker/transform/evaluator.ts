import { TransformationError } from "../handler.ts";
import type { TransformAnswer, TransformRequest } from "./messages.ts";

/** Evaluates one expression after another. */
export interface Evaluator {
  /** Rejects with a {@link TransformationError} if it cannot be used again, or with the reason of the signal. */
  call(request: TransformRequest, signal: AbortSignal): Promise<Exclude<TransformAnswer, "ready">>;
  terminate(): Promise<unknown>;
}

/** The expression fails on this event, now and later. */
export const failed = (reason: string) =>
  new TransformationError(`the transformation failed: ${reason}`, { isFinal: true });

/** This process could not evaluate the expression. */
export const notDone = (reason: string) =>
  new TransformationError(`the transformation could not be made: ${reason}`, { isFinal: false });
