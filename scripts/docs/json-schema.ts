/** A JSON Schema, as far as the description of the server uses it. */
export interface JsonSchema {
  type?: string | string[];
  format?: string;
  description?: string;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  anyOf?: JsonSchema[];
  allOf?: JsonSchema[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: JsonSchema | false;
  items?: JsonSchema;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
}

// The widest line of a page's code that most screens show without scrolling.
const MAX_LINE = 100;

/** The type that a schema describes, in the notation of TypeScript. A long object has a line for each member. */
export function typeOf(schema: JsonSchema, indent = ""): string {
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if ("const" in schema) return JSON.stringify(schema.const);
  if (schema.anyOf) return schema.anyOf.map((one) => typeOf(one, indent)).join(" | ");
  if (schema.type === "array") return `${typeOf(schema.items ?? {}, indent)}[]`;
  if (schema.type === "object") return objectTypeOf(schema, indent);
  if (schema.format === "date-time") return "DateTime";
  return schema.type === undefined ? "unknown" : [schema.type].flat().join(" | ");
}

function objectTypeOf({ properties, required = [], additionalProperties }: JsonSchema, indent: string): string {
  if (properties === undefined) return additionalProperties ? `{ [name]: ${typeOf(additionalProperties)} }` : "{}";
  const inner = `${indent}  `;
  const members = Object.entries(properties).map(
    ([name, member]) => `${name}${required.includes(name) ? "" : "?"}: ${typeOf(member, inner)}`,
  );
  const line = `{ ${members.join(", ")} }`;
  if (!line.includes("\n") && indent.length + line.length <= MAX_LINE) return line;
  return `{\n${members.map((member) => `${inner}${member},\n`).join("")}${indent}}`;
}

/** What a value must keep to besides its type. */
export function limitsOf(schema: JsonSchema): string[] {
  const { items, pattern } = schema;
  const ranges = [
    rangeOf(schema.minimum, schema.maximum, ""),
    rangeOf(schema.minLength, schema.maxLength, " characters"),
    rangeOf(schema.minItems, schema.maxItems, " items"),
  ];
  const ofItems = items ? limitsOf(items).map((limit) => `each of ${limit}`) : [];
  return [
    ...ranges.filter((range) => range !== null),
    ...ofItems,
    ...(pattern ? [`matches \`${pattern}\``] : []),
    ...("default" in schema ? [`default \`${JSON.stringify(schema.default)}\``] : []),
  ];
}

function rangeOf(least: number | undefined, most: number | undefined, unit: string): string | null {
  if (least === undefined && most === undefined) return null;
  if (least === undefined) return `at most ${most}${unit}`;
  return most === undefined ? `at least ${least}${unit}` : `${least} to ${most}${unit}`;
}
