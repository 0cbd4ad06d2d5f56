import type { Difference } from "../../events/shadow.ts";
import { decodeBeginning } from "../../lib/beginning.ts";
import { compareNumbers, ExactNumber, parseExactJson } from "../../lib/exact-json.ts";
import { shown } from "../conditions.ts";
import type { HttpAnswer } from "../handler.ts";

/**
 * The first difference of two answers; null if there is none. Bodies of JSON are compared by value, others by their
 * bytes. `ignore` are paths of members that may differ, in which `*` is any one member. Undefined if a body was too
 * long to be compared.
 */
export function differenceOf(
  expected: HttpAnswer,
  found: HttpAnswer,
  ignore: readonly string[] = [],
): Difference | null | undefined {
  if (expected.status !== found.status)
    return { place: "status", expected: String(expected.status), found: String(found.status) };
  if (!expected.isWhole || !found.isWhole) return undefined;
  if (Buffer.compare(expected.body, found.body) === 0) return null;
  const [one, other] = [jsonOf(expected.body), jsonOf(found.body)];
  if (one && other) {
    const ignored = ignore.map((path) => path.split("."));
    const difference = differing(one.json, other.json, [], ignored);
    return difference && textsOf(difference);
  }
  return { place: "body", expected: beginningOf(expected.body), found: beginningOf(found.body) };
}

// Deeper values would use up the stack. They count as different.
const MAX_DEPTH = 500;

interface DifferingValues {
  path: readonly string[];
  expected: unknown;
  found: unknown;
}

function differing(
  expected: unknown,
  found: unknown,
  path: readonly string[],
  ignored: readonly (readonly string[])[],
): DifferingValues | null {
  if (ignored.some((pattern) => matches(pattern, path))) return null;
  if (path.length > MAX_DEPTH) return { path: [], expected, found };
  if (!isContainer(expected) || !isContainer(found) || Array.isArray(expected) !== Array.isArray(found))
    return areEqual(expected, found) ? null : { path, expected, found };
  for (const name of new Set([...Object.keys(expected), ...Object.keys(found)])) {
    const inner = differing(memberOf(expected, name), memberOf(found, name), [...path, name], ignored);
    if (inner !== null) return inner;
  }
  return null;
}

const matches = (pattern: readonly string[], path: readonly string[]) =>
  pattern.length === path.length && pattern.every((name, index) => name === "*" || name === path[index]);

const memberOf = (value: Readonly<Record<string, unknown>>, name: string) =>
  Object.hasOwn(value, name) ? value[name] : undefined;

function isContainer(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !(value instanceof ExactNumber);
}

const isNumber = (value: unknown) => typeof value === "number" || value instanceof ExactNumber;

function areEqual(one: unknown, other: unknown): boolean {
  if (isNumber(one) && isNumber(other)) return compareNumbers(one as number, other as number) === 0;
  return one === other;
}

function textsOf({ path, expected, found }: DifferingValues): Difference {
  const place = ["body", ...(path.length === 0 ? [] : [path.join(".")])].join(" ");
  return { place, expected: shown(expected) ?? "missing", found: shown(found) ?? "missing" };
}

/** A body as JSON; null if it is none. */
function jsonOf(body: Uint8Array): { json: unknown } | null {
  try {
    return { json: parseExactJson(new TextDecoder("utf-8", { fatal: true }).decode(body)) };
  } catch {
    return null;
  }
}

const beginningOf = (body: Uint8Array) => shown(decodeBeginning(body) ?? "") ?? "";
