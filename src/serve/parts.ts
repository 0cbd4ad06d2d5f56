import type { ConfigFile } from "../config/file/config-file.ts";
import { describeError } from "../errors.ts";

/** A part of a running server. */
export interface Part {
  start?(): void | Promise<void>;
  /** Uses the configuration file that was read again. */
  apply?(file: ConfigFile | null): void;
  /** Ends what the part has begun, also if its start has failed. `deadline` is on the clock of `performance.now()`. */
  stop?(deadline: number): void | Promise<void>;
}

/** Creates an empty list of parts. */
export function createParts() {
  const steps: Part[][] = [];
  return {
    /**
     * Starts a part. Several ones start, and later stop, at the same time. Throws what has failed when no start runs
     * any more.
     */
    async start(...parts: Part[]): Promise<void> {
      steps.push(parts);
      throwAll(await failures(parts.map(async (part) => part.start?.())));
    },
    apply(file: ConfigFile | null): void {
      for (const part of steps.flat()) part.apply?.(file);
    },
    /** Stops every part whose start has begun. Throws what has failed when all have stopped. */
    async stop(deadline: number): Promise<void> {
      const errors: unknown[] = [];
      for (let parts = steps.pop(); parts !== undefined; parts = steps.pop()) {
        errors.push(...(await failures(parts.map(async (part) => part.stop?.(deadline)))));
      }
      throwAll(errors);
    },
  };
}

/** The parts of a server: started in order, stopped in the reverse order. */
export type Parts = ReturnType<typeof createParts>;

/** Resolves with the errors of all that fail, when all have ended. */
async function failures(runs: Promise<void>[]): Promise<unknown[]> {
  const results = await Promise.allSettled(runs);
  return results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
}

/** Throws the only error as it is, and several as one that tells them all. */
function throwAll(errors: unknown[]): void {
  if (errors.length > 1) throw new AggregateError(errors, errors.map(describeError).join("; "));
  if (errors.length === 1) throw errors[0];
}
