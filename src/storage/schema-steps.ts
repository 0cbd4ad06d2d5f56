import { hash } from "node:crypto";
import packageJson from "../../package.json" with { type: "json" };

/**
 * The key in the table `metadata` under which a database keeps the steps that made it: a JSON array of texts such as
 * `3608a198467459ba 0.2.0`. They are the digest and the version that made the step.
 */
export const STEPS_KEY = "schema_steps";

/** Why this version cannot use a schema, with the remedy. */
export interface SchemaFault {
  found: string;
  remedy: string;
}

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
  const index = recorded.findIndex((step, number) => digestOf(step) !== digests[number]);
  return index === -1 ? null : index;
}

/** What a database keeps once all steps are made, the missing ones by this version. Null if it has it already. */
export function stepsToRecord(recorded: readonly string[], digests: readonly string[]): string | null {
  const steps = digests.map((digest, number) => {
    const step = recorded[number];
    return step !== undefined && versionOf(step) !== undefined ? step : `${digest} ${packageJson.version}`;
  });
  return steps.every((step, number) => step === recorded[number]) ? null : JSON.stringify(steps);
}

/** The version that made the newest step. Undefined if that was before versions were kept. */
export const newestVersion = (recorded: readonly string[]) => versionOf(recorded.at(-1) ?? "");

/** The fault of a database whose schema is newer than that of this version, `known`. */
export function faultOfNewer(schema: number, known: number, recorded: readonly string[]): SchemaFault {
  const version = newestVersion(recorded);
  return {
    found: `has schema ${schema} and this version knows up to ${known}`,
    remedy: version === undefined ? "run the newer authserve" : `run authserve ${version} or newer`,
  };
}

const digestOf = (step: string) => step.split(" ")[0];

/** The version that made a step. Undefined if that was before versions were kept. */
const versionOf = (step: string) => step.split(" ")[1];

/** Tells that the steps from a schema to another one begin. */
export const updatingText = (from: number, to: number) =>
  `updating the database from schema ${from} to ${to}: with millions of events this takes minutes`;

/** Tells that the steps were taken. */
export const updatedText = (to: number, seconds: number) => `the database has schema ${to} now, after ${seconds} s`;
