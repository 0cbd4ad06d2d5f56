import { postgresBin } from "./back-end.ts";
import { startShared } from "./postgres.ts";

// For `--test-global-setup`: what all test files of a run share.

const ends: (() => void | Promise<void>)[] = [];

export async function globalSetup(): Promise<void> {
  if (postgresBin() !== undefined) await startShared({ after: (end) => void ends.push(end) });
}

export async function globalTeardown(): Promise<void> {
  for (const end of ends) await end();
}
