import * as v from "valibot";
import { entriesOf, faultsOf, isMap, type PathFault } from "./faults.ts";
import type { Path } from "./yaml-document.ts";

/** The value of a schema, whose keys may all be missing. */
export type Known<T> = T extends readonly unknown[] ? T : T extends object ? { [Name in keyof T]?: Known<T[Name]> } : T;

/**
 * Reads each key of a map's schema, so that the fault of one does not hide those of others. Adds the faults, and returns the
 * keys without any. Checks on the map itself are not made.
 */
export function knownKeys<const Schema extends v.GenericSchema>(
  map: Record<string, unknown>,
  schema: Schema,
  path: Path,
  faults: PathFault[],
): Known<v.InferOutput<Schema>> {
  const known: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(entriesOf(schema) ?? {})) {
    const value = map[name];
    const below = [...path, name];
    if (isMap(value) && entriesOf(member) !== null) {
      known[name] = knownKeys(value, member, below, faults);
      continue;
    }
    const { success, output, issues = [] } = v.safeParse(member, value);
    faults.push(...faultsOf(issues, below));
    if (success && output !== undefined) known[name] = output;
  }
  return known as Known<v.InferOutput<Schema>>;
}
