import * as v from "valibot";
import { ExactNumber, numberOf } from "../../lib/exact-json.ts";
import { parseExactTime } from "../../lib/iso-time.ts";
import { isObject } from "../../lib/json.ts";
import { isConfidential } from "../../webhook/content/stored-headers.ts";
import type { Bound, RouteCondition, Test, Value } from "../../worker/conditions.ts";
import { HEADER, listOf, textLike } from "./fields.ts";
import type { Reading } from "./reading.ts";
import { becomes, hintOf, mapOf, shown } from "./shape.ts";

/** The path of a member of the payload. */
export const JsonPath = textLike(
  /^(?!body:)[^.]+(?:\.[^.]+)*$/,
  "expected a path with dots and without body:, e.g. data.object.customer",
);

const scalar = v.union([v.string(), v.pipe(v.number(), v.finite()), v.boolean(), v.null()], "expected a single value");
/** A map among conditions. What it has is read by {@link readWhen}. */
const NestedMap = v.custom<Record<string, unknown>>(isObject);

/** Conditions by paths, as they are written. */
export const ConditionsSchema = mapOf(
  JsonPath,
  v.union(
    [scalar, listOf(v.union([scalar, NestedMap], "expected a single value"), "value"), NestedMap],
    "expected a value, a list of values or a map of operators",
  ),
  "expected a map of paths and values",
);

export const WhenSchema = v.pipe(
  ConditionsSchema,
  becomes((entry, reading) => readWhen(entry, reading)),
);

// Each event is compared with every condition of the routes that may take it.
const MAX_CONDITIONS = 100;
const MAX_DEPTH = 8;

/** Reads `when`, whose members are values, lists or maps. */
function readWhen(entry: Readonly<Record<string, unknown>>, reading: Reading): RouteCondition[] {
  const limits = { conditions: MAX_CONDITIONS };
  const conditions = readConditions(entry, reading, limits, MAX_DEPTH);
  if (limits.conditions < 0) reading.fault(`found over ${MAX_CONDITIONS} tests, expected fewer`);
  return conditions;
}

/** How many further tests a route may have. */
interface Limits {
  conditions: number;
}

function readConditions(
  entry: Readonly<Record<string, unknown>>,
  reading: Reading,
  limits: Limits,
  depth: number,
): RouteCondition[] {
  return Object.entries(entry).flatMap(
    ([name, value]) => readCondition(name, value, reading.at(name), limits, depth) ?? [],
  );
}

/** `any`, `all` and `not` with a value, or a list of values, are paths. */
function readCondition(
  name: string,
  value: unknown,
  reading: Reading,
  limits: Limits,
  depth: number,
): RouteCondition | null {
  const hasMaps = isObject(value) || (Array.isArray(value) && value.some(isObject));
  if (hasMaps && (name === "any" || name === "all")) {
    if (isObject(value)) return reading.fault("found a map, expected a list of maps of conditions");
    const nested = (value as unknown[]).flatMap(
      (item, index) => readNested(item, reading.at(index), limits, depth) ?? [],
    );
    return { on: name, conditions: nested };
  }
  if (hasMaps && name === "not") {
    const condition = readNested(value, reading, limits, depth);
    return condition && { on: "not", condition };
  }
  const [on, key] = name.startsWith("header:")
    ? (["header", name.slice("header:".length).toLowerCase()] as const)
    : (["member", name] as const);
  if (on === "header") checkHeader(key, reading);
  return { on, name: key, tests: readTests(value, reading, limits, depth) };
}

function checkHeader(name: string, reading: Reading): void {
  if (!HEADER.test(name)) reading.fault("expected the name of a header behind header:", "key");
  else if (isConfidential(name))
    reading.fault("found a header that is never stored, as it may have a secret, expected another one", "key");
}

function readNested(value: unknown, reading: Reading, limits: Limits, depth: number): RouteCondition | null {
  if (!isObject(value)) return reading.fault(`found ${shown(value, reading.path)}, expected a map of conditions`);
  if (depth === 0) return reading.fault(`found over ${MAX_DEPTH} levels of conditions, expected fewer`);
  if (Object.keys(value).length === 0) return reading.fault("found an empty map, expected conditions");
  for (const name of Object.keys(value)) {
    const { issues } = v.safeParse(JsonPath, name);
    if (issues) return reading.at(name).fault(`found ${shown(name, reading.path)}, ${issues[0].message}`, "key");
  }
  return { on: "all", conditions: readConditions(value, reading, limits, depth - 1) };
}

/** The tests of one member. A value, or a list of them, is what it must be. */
function readTests(value: unknown, reading: Reading, limits: Limits, depth: number): Test[] {
  limits.conditions--;
  if (!isObject(value)) return [{ op: "is", values: readValues([value].flat(), reading, Array.isArray(value)) }];
  const operators = Object.entries(value);
  if (operators.length === 0) reading.fault(`found an empty map, ${EXPECTED_OPERATOR}`);
  return operators.flatMap(([name, operand]) => {
    const place = reading.at(name);
    const read = Object.hasOwn(OPERATORS, name) ? OPERATORS[name as keyof typeof OPERATORS] : undefined;
    if (name === "not") {
      if (depth === 0) return place.fault(`found over ${MAX_DEPTH} levels of not, expected fewer`) ?? [];
      return { op: "not", tests: readTests(operand, place, limits, depth - 1) };
    }
    if (!read) {
      return place.fault(`unknown operator, ${EXPECTED_OPERATOR}${hintOf(name, NAMES)}`, "key") ?? [];
    }
    limits.conditions--;
    return read(operand, place) ?? [];
  });
}

type ReadTest = (operand: unknown, reading: Reading) => Test | null;

const withValue =
  (op: "eq" | "ne" | "contains"): ReadTest =>
  (operand, reading) => ({ op, value: readValue(operand, reading) });

const withBound =
  (op: "gt" | "gte" | "lt" | "lte"): ReadTest =>
  (operand, reading) => {
    const value = readValue(operand, reading);
    return isBound(value)
      ? { op, value }
      : reading.fault(`found ${shown(operand, reading.path)}, expected a number or a time, e.g. 2026-01-31T12:00:00Z`);
  };

const withText =
  (op: "startsWith" | "endsWith"): ReadTest =>
  (value, reading) =>
    typeof value === "string" ? { op, value } : reading.fault(`found ${shown(value, reading.path)}, expected text`);

/** The name of an operator in the file. */
export type Operator = Exclude<Test["op"], "is">;

const OPERATORS: Record<Exclude<Operator, "not">, ReadTest> = {
  eq: withValue("eq"),
  ne: withValue("ne"),
  gt: withBound("gt"),
  gte: withBound("gte"),
  lt: withBound("lt"),
  lte: withBound("lte"),
  in: (operand, reading) =>
    Array.isArray(operand) && operand.length > 0
      ? { op: "in", values: readValues(operand, reading, true) }
      : reading.fault(`found ${shown(operand, reading.path)}, expected a list with at least one value`),
  startsWith: withText("startsWith"),
  endsWith: withText("endsWith"),
  contains: withValue("contains"),
  exists: (value, reading) =>
    typeof value === "boolean"
      ? { op: "exists", value }
      : reading.fault(`found ${shown(value, reading.path)}, expected true or false`),
};

const NAMES = [...Object.keys(OPERATORS), "not"];
const EXPECTED_OPERATOR = `expected one of ${NAMES.join(", ")}`;

const isBound = (value: Value): value is Bound =>
  typeof value === "number" ||
  value instanceof ExactNumber ||
  (typeof value === "string" && parseExactTime(value) !== null);

function readValues(values: readonly unknown[], reading: Reading, isList: boolean): Value[] {
  return values.map((value, index) => readValue(value, isList ? reading.at(index) : reading));
}

/** A single value, with all digits of a number. */
function readValue(value: unknown, reading: Reading): Value {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return value;
  if (typeof value !== "number") return reading.fault(`found ${shown(value, reading.path)}, expected a single value`);
  if (!Number.isFinite(value)) reading.fault(`found ${value}, expected a number of JSON`);
  const written = reading.document.numberAt(reading.path)?.replace(/^\+/, "") ?? "";
  return /^-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/.test(written) ? numberOf(written) : value;
}
