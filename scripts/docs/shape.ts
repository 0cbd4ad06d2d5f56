import type * as v from "valibot";

/** The shape that a schema describes, in the notation of TypeScript with names as in JSON. */
export function shapeOf(schema: v.GenericSchema): string {
  const known = schema as Known;
  switch (known.type) {
    case "string":
    case "boolean":
    case "unknown":
      return known.type;
    case "literal":
      return JSON.stringify(known.literal);
    case "picklist":
      return known.options.map((option) => JSON.stringify(option)).join(" | ");
    case "record":
      return known.value.type === "unknown" ? "{ … }" : `{ [name]: ${shapeOf(known.value)} }`;
    case "object": {
      const members = Object.entries(known.entries).map(([name, value]) => `"${name}": ${shapeOf(value)}`);
      return `{ ${members.join(", ")} }`;
    }
  }
}

type Known =
  | { type: "string" | "boolean" | "unknown" }
  | { type: "literal"; literal: v.Literal }
  | { type: "picklist"; options: readonly string[] }
  | { type: "record"; value: v.GenericSchema }
  | { type: "object"; entries: Record<string, v.GenericSchema> };
