import { compareNumbers, ExactNumber, numberOf } from "../lib/exact-json.ts";
import { compareTimes, parseExactTime } from "../lib/iso-time.ts";

/** A value of JSON that is neither an object nor an array, with all digits of a number. */
export type Value = string | number | boolean | null | ExactNumber;

/** A value that has an order: a number, or a time in ISO 8601. */
export type Bound = string | number | ExactNumber;

/** A test of one value. `is` takes text as it is written; `eq`, `ne` and `in` compare times by value. */
export type Test =
  | { op: "is" | "in"; values: readonly Value[] }
  | { op: "eq" | "ne" | "contains"; value: Value }
  | { op: "gt" | "gte" | "lt" | "lte"; value: Bound }
  | { op: "startsWith" | "endsWith"; value: string }
  | { op: "exists"; value: boolean }
  | { op: "not"; tests: readonly Test[] };

/** A condition on an event: tests of a member or a header that must all pass, or nested conditions. */
export type RouteCondition =
  | { on: "member" | "header"; name: string; tests: readonly Test[] }
  | { on: "all" | "any"; conditions: readonly RouteCondition[] }
  | { on: "not"; condition: RouteCondition };

/** What conditions look into. */
export interface EventContent {
  /** The member of the payload at a path, a number with all of its digits. Undefined if it is missing. */
  member(path: string): unknown;
  /** A stored header of the delivery, by its name in lower case. */
  header(name: string): string | undefined;
}

/** A condition that does not hold. */
export interface Unmet {
  condition: string;
  /** What the test asks for, as text. Null for nested conditions. */
  expected: string | null;
  /** The beginning of the value as JSON. Null if there is none. */
  found: string | null;
}

const MAX_FOUND_LENGTH = 80;
const JSON_NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

/** The first of these conditions that does not hold; null if all hold. */
export function unmetOf(conditions: readonly RouteCondition[], content: EventContent): Unmet | null {
  for (const condition of conditions) {
    const unmet = findUnmet(condition, content);
    if (unmet !== null) return unmet;
  }
  return null;
}

function findUnmet(condition: RouteCondition, content: EventContent): Unmet | null {
  switch (condition.on) {
    case "member":
    case "header": {
      const value = condition.on === "member" ? content.member(condition.name) : content.header(condition.name);
      const failed = condition.tests.find((test) => !passes(test, value));
      return failed ? { condition: nameOf(condition), expected: textOf(failed), found: shown(value) } : null;
    }
    case "all":
      return unmetOf(condition.conditions, content);
    case "any": {
      const isMet = condition.conditions.some((one) => findUnmet(one, content) === null);
      return isMet ? null : { condition: "any", expected: null, found: null };
    }
    case "not":
      return findUnmet(condition.condition, content) === null
        ? { condition: "not", expected: null, found: null }
        : null;
  }
}

const nameOf = ({ on, name }: { on: "member" | "header"; name: string }) => (on === "header" ? `header:${name}` : name);

/** Whether a value passes a test. A value that is missing passes `exists: false` alone. */
function passes(test: Test, value: unknown): boolean {
  if (test.op === "exists") return (value !== undefined) === test.value;
  if (value === undefined) return false;
  switch (test.op) {
    case "is":
      return test.values.some((accepted) => isSame(accepted, value));
    case "in":
      return test.values.some((accepted) => isEqual(accepted, value));
    case "eq":
      return isEqual(test.value, value);
    case "ne":
      return !isEqual(test.value, value);
    case "gt":
      return isOrdered(value, test.value, (order) => order > 0);
    case "gte":
      return isOrdered(value, test.value, (order) => order >= 0);
    case "lt":
      return isOrdered(value, test.value, (order) => order < 0);
    case "lte":
      return isOrdered(value, test.value, (order) => order <= 0);
    case "startsWith":
      return typeof value === "string" && value.startsWith(test.value);
    case "endsWith":
      return typeof value === "string" && value.endsWith(test.value);
    case "contains":
      return contains(value, test.value);
    case "not":
      return !test.tests.every((one) => passes(one, value));
  }
}

/** Whether a text has a part, or a list has an item. */
function contains(value: unknown, part: Value): boolean {
  if (Array.isArray(value)) return value.some((item) => isEqual(part, item));
  return typeof value === "string" && typeof part === "string" && value.includes(part);
}

function isNumber(value: unknown): value is number | ExactNumber {
  return typeof value === "number" || value instanceof ExactNumber;
}

function isSame(one: Value, other: unknown): boolean {
  return isNumber(one) ? isNumber(other) && compareNumbers(one, other) === 0 : one === other;
}

/** Whether two values are the same, or are the same time. */
function isEqual(one: Value, other: unknown): boolean {
  if (isSame(one, other)) return true;
  const first = timeOf(one);
  const second = first && timeOf(other);
  return first !== null && second !== null && compareTimes(first, second) === 0;
}

/**
 * Compares a value with a bound: both numbers, or both times. Anything else has no order. Headers and fields of forms
 * are text, so a number may be written as text.
 */
function isOrdered(value: unknown, bound: Bound, holds: (order: number) => boolean): boolean {
  if (isNumber(bound)) {
    const number = typeof value === "string" && JSON_NUMBER.test(value) ? numberOf(value) : value;
    return isNumber(number) && holds(compareNumbers(number, bound));
  }
  const [time, limit] = [timeOf(value), timeOf(bound)];
  return time !== null && limit !== null && holds(compareTimes(time, limit));
}

const timeOf = (value: unknown) => (typeof value === "string" ? parseExactTime(value) : null);

/** Conditions as text, for people. */
export function conditionTexts(conditions: readonly RouteCondition[]): string[] {
  return conditions.map(conditionText);
}

function conditionText(condition: RouteCondition): string {
  switch (condition.on) {
    case "member":
    case "header":
      return `${nameOf(condition)}: ${condition.tests.map(textOf).join(", ")}`;
    case "all":
    case "any":
      return `${condition.on} (${conditionTexts(condition.conditions).join("; ")})`;
    case "not":
      return `not (${conditionText(condition.condition)})`;
  }
}

function textOf(test: Test): string {
  if (test.op === "not") return `not ${test.tests.map(textOf).join(" and ")}`;
  if ("values" in test) return test.values.map(jsonOf).join(" or ");
  return `${test.op} ${jsonOf(test.value)}`;
}

const jsonOf = (value: unknown) => (value instanceof ExactNumber ? value.text : (JSON.stringify(value) ?? ""));

/** The beginning of a value, for a message. Null if there is none. */
export function shown(value: unknown): string | null {
  if (value === undefined) return null;
  const isLong = (text: string) => text.length > MAX_FOUND_LENGTH;
  const cut = (text: string) => `${text.slice(0, MAX_FOUND_LENGTH).toWellFormed()}…`;
  if (typeof value === "string") return JSON.stringify(isLong(value) ? cut(value) : value);
  const text = beginningOfJson(value, MAX_FOUND_LENGTH);
  return isLong(text) ? cut(text) : text;
}

/**
 * A value as JSON, which may end once it is longer than `length`. With a deep value `JSON.stringify` would use up the
 * stack.
 */
function beginningOfJson(value: unknown, length: number): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, length + 1));
  if (typeof value !== "object" || value === null || value instanceof ExactNumber) return jsonOf(value);
  const [opening, closing] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  let text = opening;
  for (const [name, member] of Object.entries(value)) {
    if (text.length > length) return text;
    if (text !== opening) text += ",";
    if (opening === "{") text += `${JSON.stringify(name)}:`;
    text += beginningOfJson(member, length - text.length);
  }
  return text + closing;
}
