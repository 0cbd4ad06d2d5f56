import type { ConfigFile } from "../config/file/config-file.ts";

/** A part of a running server. */
export interface Part {
  start?(): void | Promise<void>;
  /** Uses the configuration file that was read again. */
  apply?(file: ConfigFile | null): void;
  /** Ends what the part has begun, also if its start has failed. `deadline` is on the clock of `performance.now()`. */
  stop?(deadline: number): void | Promise<void>;
}

/** The parts of a server: started in order, stopped in the reverse order. */
export interface Parts {
  /** Starts a part. Several ones start, and later stop, at the same time. */
  start(...parts: Part[]): Promise<void>;
  apply(file: ConfigFile | null): void;
  /** Stops every part whose start has begun. Throws the first error when all have stopped. */
  stop(deadline: number): Promise<void>;
}

/** Creates an empty list of parts. */
export function createParts(): Parts {
  const steps: Part[][] = [];
  return {
    async start(...parts) {
      steps.push(parts);
      await Promise.all(parts.map(async (part) => part.start?.()));
    },
    apply(file) {
      for (const part of steps.flat()) part.apply?.(file);
    },
    async stop(deadline) {
      const errors: unknown[] = [];
      for (let parts = steps.pop(); parts !== undefined; parts = steps.pop()) {
        const stopped = await Promise.allSettled(parts.map(async (part) => part.stop?.(deadline)));
        errors.push(...stopped.flatMap((result) => (result.status === "rejected" ? [result.reason] : [])));
      }
      if (errors.length > 0) throw errors[0];
    },
  };
}
