import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import type { ApiRequest } from "../../../src/webhook/provider/catch-up.ts";
import type { StandInAnswer } from "./stand-in.ts";

type Schema = boolean | { [name: string]: unknown };

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  schema: Schema;
}

interface Operation {
  method: string;
  path: string;
  parameters: Parameter[];
  /** The content of a request, as JSON or as a form. Without both it has none. */
  body?: Schema;
  form?: Schema;
  /** The content of answers, by status. */
  answers: Record<string, Schema>;
  /** An answer that the provider has published. */
  example?: unknown;
}

/** What a provider has published of its API, reduced to what a catch-up needs. */
interface ApiDescription {
  provider: string;
  source: string;
  version: string;
  operations: Operation[];
  definitions: Record<string, Schema>;
}

const FILE = join(import.meta.dirname, "../../fixtures/provider-apis.json");
const descriptions = JSON.parse(readFileSync(FILE, "utf8")) as ApiDescription[];

export function apiDescription(provider: string): ApiDescription {
  const found = descriptions.find((one) => one.provider === provider);
  if (found === undefined) throw new Error(`there is no description of the API of ${provider}`);
  return found;
}

/**
 * Compares requests to an API, and its answers, with what the provider has published of it. Objects may have no other
 * members than the published ones, so that nothing else can be read of an answer.
 */
export function createComparison({ operations, definitions }: ApiDescription) {
  const ajv = new Ajv({ strict: false, validateFormats: false, coerceTypes: false });
  // Parameters are texts.
  const ofTexts = new Ajv({ strict: false, validateFormats: false, coerceTypes: true });
  const closedDefinitions = Object.fromEntries(
    Object.entries(definitions).map(([name, schema]) => [name, closed(schema)]),
  );
  const used = new Set<Operation>();
  const differences: string[] = [];

  function compare(what: string, schema: Schema, value: unknown): void {
    const whole = { definitions: closedDefinitions, allOf: [closed(schema)] };
    if (!ajv.validate(whole, value)) differences.push(`${what}: ${ajv.errorsText()}`);
  }

  function compareParameter(what: string, schema: Schema, value: unknown): void {
    const whole = { definitions: closedDefinitions, properties: { value: closed(schema) } };
    if (!ofTexts.validate(whole, { value })) differences.push(`${what}: ${ofTexts.errorsText()}`);
  }

  function compareQuery(name: string, { parameters }: Operation, query: URLSearchParams): void {
    const values = nested(query);
    for (const [key, value] of Object.entries(values)) {
      const parameter = parameters.find((one) => one.in === "query" && one.name === key);
      if (parameter === undefined) differences.push(`${name}: there is no parameter ${key}`);
      else compareParameter(`${name}: parameter ${key}`, parameter.schema, value);
    }
    for (const { name: key, in: place, required } of parameters)
      if (place === "query" && required && !(key in values)) differences.push(`${name}: parameter ${key} is missing`);
  }

  function compareBody(name: string, { body, form }: Operation, request: ApiRequest): void {
    const type = request.headers?.["content-type"] ?? "application/json";
    if (request.body === undefined) {
      if (body ?? form) differences.push(`${name}: the content is missing`);
    } else if (form !== undefined && type === "application/x-www-form-urlencoded")
      compare(`${name}: content`, form, Object.fromEntries(new URLSearchParams(request.body)));
    else if (body !== undefined && type === "application/json")
      compare(`${name}: content`, body, JSON.parse(request.body));
    else differences.push(`${name}: it has content of type ${type}`);
  }

  return {
    differences,
    /** Operations that were not used. */
    unused: () => operations.filter((one) => !used.has(one)).map(({ method, path }) => `${method} ${path}`),
    check(request: ApiRequest, { status, text }: StandInAnswer): void {
      const url = new URL(request.url);
      const method = request.method ?? (request.body === undefined ? "GET" : "POST");
      const operation = operations.find((one) => one.method === method && pathPattern(one.path).test(url.pathname));
      if (operation === undefined) {
        differences.push(`${method} ${url.pathname}: there is no such request`);
        return;
      }
      used.add(operation);
      const name = `${method} ${operation.path}`;
      const values = pathPattern(operation.path).exec(url.pathname)?.groups ?? {};
      for (const { name: key, in: place, schema } of operation.parameters)
        if (place === "path") compareParameter(`${name}: ${key}`, schema, decodeURIComponent(values[key] ?? ""));
      compareQuery(name, operation, url.searchParams);
      compareBody(name, operation, request);
      if (status >= 400) return;
      const answer = operation.answers[status];
      if (answer === undefined) differences.push(`${name}: it does not answer with ${status}`);
      else compare(`${name}: the answer`, answer, text === "" ? null : JSON.parse(text));
    },
  };
}

const pathPattern = (path: string) => new RegExp(`^${path.replace(/\{(\w+)\}/g, "(?<$1>[^/]+)")}$`);

/** The parameters of a query: `created[gte]=1` is `{ created: { gte: 1 } }`. */
function nested(query: URLSearchParams): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [key, text] of query) {
    const [, name = key, member] = /^(\w+)\[(\w+)\]$/.exec(key) ?? [];
    values[name] = member === undefined ? text : { ...(values[name] as object), [member]: text };
  }
  return values;
}

/** A schema whose objects have no members that it does not name. */
function closed<Part>(schema: Part): Part {
  if (Array.isArray(schema)) return schema.map(closed) as Part;
  if (typeof schema !== "object" || schema === null) return schema;
  const parts = Object.fromEntries(Object.entries(schema).map(([name, part]) => [name, closed(part)]));
  const isOpen = typeof parts.properties === "object" && parts.additionalProperties === undefined;
  return (isOpen ? { ...parts, additionalProperties: false } : parts) as Part;
}
