import { hash } from "node:crypto";

/** The key in the table `metadata` under which a database keeps the digests of the steps that made it. */
export const STEPS_KEY = "schema_steps";

/** A digest of each step of a schema. Comments and white space do not count. */
export function digestsOf(steps: readonly string[]): string[] {
  return steps.map((step) => {
    const statements = step.replaceAll(/--.*$/gm, "").replaceAll(/\s+/g, " ").trim();
    return hash("sha256", statements).slice(0, 16);
  });
}

/**
 * The index of the first step that is not the one that made a database; null if there is none. `recorded` is what the
 * database keeps. One from before digests has none: then nothing differs.
 */
export function changedStep(recorded: readonly string[], digests: readonly string[]): number | null {
  const index = recorded.findIndex((digest, step) => digest !== digests[step]);
  return index === -1 ? null : index;
}
