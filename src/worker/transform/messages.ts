import type { TransformInput, TransformOutput } from "./expression.ts";

/** To the thread of transformations: evaluate an expression. One at a time. */
export interface TransformRequest extends TransformInput {
  expression: string;
}

/** From the thread: it is ready for the first request, or how one has ended. */
export type TransformAnswer = "ready" | TransformOutput | { error: string };
