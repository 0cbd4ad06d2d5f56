import type * as v from "valibot";
import { nearest } from "../../lib/nearest.ts";
import { printable } from "../../lib/printable.ts";
import type { Path } from "./yaml-document.ts";

/** A fault at a path. `at` is "key" if the key itself is wrong. */
export interface PathFault {
  path: Path;
  at?: "key";
  message: string;
}

const MAX_FOUND_LENGTH = 40;

/** The faults of the issues that a schema found at a path. Values below `secrets` are not shown. */
export function faultsOf(issues: readonly v.BaseIssue<unknown>[], base: Path): PathFault[] {
  return issues.flatMap((issue): PathFault[] => {
    // Unknown keys are reported by `unknownKeys`: valibot reports only the first of an object.
    if (issue.type === "strict_object" && issue.expected === "never") return [];
    const path = [...base, ...(issue.path ?? []).map(({ key }) => key as string | number)];
    const expected = issue.message.startsWith("expected ") ? issue.message : expectationOf(issue);
    if (issue.received === "undefined") return [{ path, message: `missing, ${expected}` }];
    return [{ path, message: `found ${shown(issue.input, path)}, ${expected}${hintFor(issue)}` }];
  });
}

/** The word of a list that was probably meant. */
function hintFor({ input, message }: v.BaseIssue<unknown>): string {
  const words = message.startsWith("expected one of ") ? message.slice("expected one of ".length).split(", ") : [];
  const meant = typeof input === "string" ? nearest(input, words) : undefined;
  return meant === undefined ? "" : ` (did you mean ${meant}?)`;
}

function expectationOf({ expected }: v.BaseIssue<unknown>): string {
  if (expected === "Array") return "expected a list";
  return expected === "Object" ? "expected a map" : "expected text";
}

/** A value for a message. */
export function shown(value: unknown, path: Path): string {
  if (isInSecrets(path)) return "a literal value";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "a map";
  const text = printable(String(value));
  const cut = text.length > MAX_FOUND_LENGTH ? `${text.slice(0, MAX_FOUND_LENGTH)}…` : text;
  return typeof value === "string" ? `"${cut}"` : cut;
}

/** The path of a key as it is shown, with dots. A key below `secrets` may be a literal secret. */
export function keyText(path: Path): string {
  const isShown = !isInSecrets(path) || typeof path[3] === "number";
  return (isShown ? path : path.slice(0, 3)).join(".");
}

/** Whether a path is `sources.NAME.secrets` or below it. */
function isInSecrets([top, , key]: Path): boolean {
  return top === "sources" && key === "secrets";
}

/** The fault of each key that a schema of a map, or of a map in it, does not have. */
export function unknownKeys(value: unknown, schema: v.GenericSchema, path: Path): PathFault[] {
  const entries = entriesOf(schema);
  if (entries === null || typeof value !== "object" || value === null || Array.isArray(value)) return [];
  const known = Object.keys(entries);
  return Object.entries(value).flatMap(([name, member]): PathFault[] => {
    const inner = Object.hasOwn(entries, name) ? entries[name] : undefined;
    if (inner) return unknownKeys(member, inner, [...path, name]);
    const meant = nearest(name, known);
    const hint = meant === undefined ? "" : ` (did you mean ${meant}?)`;
    return [{ path: [...path, name], at: "key", message: `unknown key, expected one of ${known.join(", ")}${hint}` }];
  });
}

/** The members of a map's schema, also of one in `v.optional` or `v.pipe`; null for other schemas. */
function entriesOf(schema: v.GenericSchema): Record<string, v.GenericSchema> | null {
  if ("entries" in schema) return schema.entries as Record<string, v.GenericSchema>;
  if ("wrapped" in schema) return entriesOf(schema.wrapped as v.GenericSchema);
  return null;
}
