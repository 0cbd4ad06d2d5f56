import type { Operator } from "./when.ts";

const VALUE = { type: ["string", "number", "boolean", "null"] };
const BOUND = { type: ["number", "string"] };
const VALUES = { type: "array", items: VALUE, minItems: 1 };
const CONDITIONS = { $ref: "#/definitions/conditions" };
const OPERATORS = { $ref: "#/definitions/operators" };
const ALTERNATIVES = { type: "array", items: CONDITIONS, minItems: 1 };

const OPERANDS: Record<Operator, object> = {
  eq: { ...VALUE, description: "The value." },
  ne: { ...VALUE, description: "Any other value." },
  gt: { ...BOUND, description: "A greater number, or a later time." },
  gte: { ...BOUND, description: "This number or a greater one, or this time or a later one." },
  lt: { ...BOUND, description: "A smaller number, or an earlier time." },
  lte: { ...BOUND, description: "This number or a smaller one, or this time or an earlier one." },
  in: { ...VALUES, description: "One of a list." },
  startsWith: { type: "string", description: "Text that begins so." },
  endsWith: { type: "string", description: "Text that ends so." },
  contains: { ...VALUE, description: "Text with this part, or a list with this item." },
  exists: { type: "boolean", description: "Whether there is a value." },
  not: { anyOf: [VALUE, VALUES, OPERATORS], description: "What these do not hold for." },
};

/** The JSON Schema of conditions, which may have conditions in them. */
export const WHEN_DEFINITIONS = {
  conditions: {
    type: "object",
    properties: {
      any: { anyOf: [ALTERNATIVES, VALUE, VALUES], description: "One of these must hold." },
      all: { anyOf: [ALTERNATIVES, VALUE, VALUES], description: "All of these must hold." },
      not: { anyOf: [CONDITIONS, VALUE, VALUES], description: "These must not all hold." },
    },
    propertyNames: { pattern: "^(?!body:)[^.]+(?:\\.[^.]+)*$" },
    additionalProperties: { anyOf: [VALUE, VALUES, OPERATORS] },
  },
  operators: { type: "object", properties: OPERANDS, additionalProperties: false, minProperties: 1 },
};

/** The schema of `when` in the JSON Schema of the file. */
export const WHEN_REFERENCE = { allOf: [CONDITIONS] };
