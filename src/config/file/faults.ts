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

/** The faults of the issues that a schema found at a path. Private values are not shown. */
export function faultsOf(issues: readonly v.BaseIssue<unknown>[], base: Path): PathFault[] {
  return issues.flatMap((issue): PathFault[] => {
    // Unknown keys are reported by `unknownKeys`: valibot reports only the first of an object.
    if (issue.type === "strict_object" && issue.expected === "never") return [];
    const path = [...base, ...(issue.path ?? []).map(({ key }) => key as string | number)];
    // A list may be right where one of its items is not.
    const inner = issue.issues?.filter((below) => below.path !== undefined) ?? [];
    if (inner.length > 0) return faultsOf(inner, path);
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

/** A value for a message. A private one is not shown. */
export function shown(value: unknown, path: Path): string {
  if (lengthOfSecretPath(path) !== null && (typeof value !== "object" || isMap(value))) return "a literal value";
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (isMap(value)) return "a map";
  if (value !== null && isPrivate(path)) return typeof value === "string" ? "text" : `a ${typeof value}`;
  const text = printable(String(value));
  const cut = text.length > MAX_FOUND_LENGTH ? `${text.slice(0, MAX_FOUND_LENGTH)}…` : text;
  return typeof value === "string" ? `"${cut}"` : cut;
}

/** The path of a key as it is shown, with dots. A key below a secret may be a literal secret. */
export function keyText(path: Path): string {
  return path.slice(0, lengthOfSecretPath(path) ?? path.length).join(".");
}

/** The length of the path of the secret that a path is at or below; null if there is none. */
function lengthOfSecretPath([top, , key, below]: Path): number | null {
  if (top === "sources" && key === "secrets") return typeof below === "number" ? 4 : 3;
  if (top === "sources" && key === "handshake") return below === undefined ? 3 : 4;
  if (top === "alerts" && (below === "secret" || below === "token")) return 4;
  return top === "routes" && key === "http" && below === "secret" ? 4 : null;
}

/** Whether a path is that of a URL, a command or a key, or of text in its place. These may have passwords, or be private. */
function isPrivate(path: Path): boolean {
  const [top, , key, below] = path;
  if (top === "alerts") return path[1] === "notify" && below !== "name";
  if (top === "sources") return key === "keys" || key === "options";
  if (top !== "routes") return false;
  return path.length <= 2 || key === "to" || ((key === "http" || key === "exec") && below !== "timeout");
}

/** Whether a value of the file is a map. */
export function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The fault of each key that a schema of a map, or of a map in it, does not have. */
export function unknownKeys(value: unknown, schema: v.GenericSchema, path: Path): PathFault[] {
  const entries = entriesOf(schema);
  if (entries === null || !isMap(value)) return [];
  const known = Object.keys(entries);
  const expected = known.length === 0 ? "expected none" : `expected one of ${known.join(", ")}`;
  return Object.entries(value).flatMap(([name, member]): PathFault[] => {
    const inner = Object.hasOwn(entries, name) ? entries[name] : undefined;
    if (inner) return unknownKeys(member, inner, [...path, name]);
    const meant = nearest(name, known);
    const hint = meant === undefined ? "" : ` (did you mean ${meant}?)`;
    return [{ path: [...path, name], at: "key", message: `unknown key, ${expected}${hint}` }];
  });
}

/** The members of a map's schema, also of one in `v.optional` or `v.pipe`; null for other schemas. */
export function entriesOf(schema: v.GenericSchema): Record<string, v.GenericSchema> | null {
  if ("entries" in schema) return schema.entries as Record<string, v.GenericSchema>;
  if ("wrapped" in schema) return entriesOf(schema.wrapped as v.GenericSchema);
  return null;
}
