import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import ajvFormats from "ajv-formats";

type Schema = Record<string, unknown>;

interface Operation {
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>;
  "x-every-method"?: true;
}

/** An OpenAPI description, as far as answers are checked with it. */
export interface Description {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

/** An answer with the request that it belongs to. */
export interface Exchange {
  method: string;
  /** The request target, in origin form or absolute form. */
  target: string;
  status: number;
  /** The whole Content-Type. */
  contentType: string;
  text: string;
}

// Refusals that need no operation: what is no request, no path or no method of the path.
const WITHOUT_OPERATION = [400, 404, 405, 408, 431];

/** Returns how an answer differs from its description; null if it does not. */
export function differenceOf(description: Description, exchange: Exchange): string | null {
  const { method, target, status } = exchange;
  const operation = operationOf(description, method, target);
  if (operation === "preflight") return null;
  const schema = operation
    ? schemaOf(operation, exchange)
    : WITHOUT_OPERATION.includes(status) && mediaTypeOf(exchange) === PROBLEM && REF_TO_PROBLEM;
  const what = `${method} ${target} answered ${status} ${mediaTypeOf(exchange)}`;
  if (!schema) return `${what}, which is not described`;
  const fault = method === "HEAD" ? null : faultOf(description, schema, exchange);
  return fault && `${what}, whose body differs from its description: ${fault}: ${exchange.text.slice(0, 500)}`;
}

const PROBLEM = "application/problem+json";
const REF_TO_PROBLEM: Schema = { allOf: [{ $ref: "#/components/schemas/Problem" }] };

function operationOf({ paths }: Description, method: string, target: string): Operation | "preflight" | undefined {
  const path = target.replace(/^https?:\/\/[^/?]*/i, "").replace(/\?.*$/s, "");
  // A path without parameters comes before one with them.
  const template = path in paths ? path : Object.keys(paths).find((name) => isMatch(name, path));
  if (template === undefined) return undefined;
  if (method === "OPTIONS") return "preflight";
  const operations = Object.entries(paths[template] ?? {});
  const find = (wanted: string) =>
    operations.find(([name, one]) => one["x-every-method"] || name.toUpperCase() === wanted)?.[1];
  return find(method) ?? (method === "HEAD" ? find("GET") : undefined);
}

function isMatch(template: string, path: string): boolean {
  // What one endpoint takes after its own path is a path of another server.
  if (template.endsWith("/{path}")) return path.startsWith(template.slice(0, -"{path}".length));
  const [wanted, given] = [template.split("/"), path.split("/")];
  const isSame = (segment: string, index: number) =>
    segment.startsWith("{") ? !["", ".", ".."].includes(decoded(given[index])) : segment === given[index];
  return wanted.length === given.length && wanted.every(isSame);
}

function decoded(segment = ""): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return "";
  }
}

const mediaTypeOf = ({ contentType }: Exchange) => contentType.replace(/;.*$/, "");

const schemaOf = ({ responses }: Operation, exchange: Exchange): Schema | undefined =>
  responses[exchange.status]?.content?.[mediaTypeOf(exchange)]?.schema;

const ajv = new Ajv2020({ strictTypes: false });
ajvFormats.default(ajv);
ajv.addVocabulary(["components"]);
/** By the text of the schema, for servers that describe an answer alike. */
const validators = new Map<string, ValidateFunction>();
/** The same, by the schema of a description: its text is long. */
const validatorsOf = new WeakMap<Description, Map<Schema, ValidateFunction>>();

function validatorOf(description: Description, schema: Schema): ValidateFunction {
  const known = validatorsOf.get(description) ?? new Map<Schema, ValidateFunction>();
  validatorsOf.set(description, known);
  const validate = known.get(schema) ?? compiled(description, schema);
  known.set(schema, validate);
  return validate;
}

function compiled({ components }: Description, schema: Schema): ValidateFunction {
  const Problem = closed(components.schemas.Problem, true);
  const whole = { ...(closed(schema) as Schema), components: { schemas: { Problem } } };
  const key = JSON.stringify(whole);
  const validate = validators.get(key) ?? ajv.compile(whole);
  validators.set(key, validate);
  return validate;
}

/** Returns the fault of a body; null if it matches its schema. */
function faultOf(description: Description, schema: Schema, exchange: Exchange): string | null {
  const validate = validatorOf(description, schema);
  const isJson = /[/+]json$/.test(mediaTypeOf(exchange));
  try {
    return validate(isJson ? JSON.parse(exchange.text) : exchange.text) ? null : ajv.errorsText(validate.errors);
  } catch (error) {
    return String(error);
  }
}

/**
 * A schema that refuses members which it does not describe: clients must accept them, and the server must not send
 * them. The parts of an `allOf` are closed as a whole.
 */
function closed(schema: unknown, isPart = false): unknown {
  if (Array.isArray(schema)) return schema.map((item) => closed(item, isPart));
  if (typeof schema !== "object" || schema === null) return schema;
  const inner = Object.entries(schema).map(([name, value]) => [name, closed(value, name === "allOf")]);
  const isOpen = "allOf" in schema || ("properties" in schema && !("additionalProperties" in schema));
  return { ...Object.fromEntries(inner), ...(isOpen && !isPart ? { unevaluatedProperties: false } : {}) };
}
