import { STATUS_CODES } from "node:http";
import { toJsonSchema } from "@valibot/to-json-schema";
import type { GenericSchema } from "valibot";
import { type ErrorCode, PROBLEMS } from "../errors.ts";
import type { Route } from "./route.ts";

type JsonObject = Record<string, unknown>;

/** Describes routes as OpenAPI 3.1. */
export function openApiOf(routes: readonly Route[], version: string): JsonObject {
  const paths: Record<string, JsonObject> = {};
  for (const route of routes) {
    // A preflight request is the browser's business.
    if (route.method === "OPTIONS") continue;
    const path = route.path.replace(/:([A-Za-z]+)/g, "{$1}");
    paths[path] = { ...paths[path], [methodOf(route)]: operationOf(route) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "authserve",
      version,
      description: "Logs one user in with at most one session, and receives webhooks.",
    },
    paths,
    components: {
      schemas: { Problem: PROBLEM },
      securitySchemes: {
        token: { type: "http", scheme: "bearer", bearerFormat: "JWT" },
      },
    },
  };
}

/** A route for every method is described by its most usual one. */
const methodOf = ({ method }: Route) => (method === "*" ? "get" : method.toLowerCase());

function operationOf(route: Route): JsonObject {
  const { path, summary, isGuarded = false, query, request } = route;
  const parameters = [...path.matchAll(/:([A-Za-z]+)/g)].map(([, name]) => parameterOf(name as string, "path", STRING));
  const queried = Object.entries((query && schemaOf(query).properties) ?? {}).map(([name, schema]) =>
    parameterOf(name, "query", schema as JsonObject),
  );
  return {
    operationId: `${methodOf(route)}${path.replace(/[^A-Za-z0-9]+(.)?/g, (_, next = "") => next.toUpperCase())}`,
    summary,
    ...(isGuarded ? { security: [{ token: [] }] } : {}),
    ...(parameters.length + queried.length > 0 ? { parameters: [...parameters, ...queried] } : {}),
    ...(request ? { requestBody: { required: true, content: contentOf(request) } } : {}),
    responses: responsesOf(route),
  };
}

const STRING = { type: "string" };

const parameterOf = (name: string, place: "path" | "query", schema: JsonObject) => ({
  name,
  in: place,
  required: place === "path",
  schema,
});

function responsesOf({ response, statuses = [200], problems = [] }: Route): JsonObject {
  const answers = statuses.map((status) => [
    status,
    { description: STATUS_CODES[status], content: contentOf(response) },
  ]);
  // Any request may also be refused for what it is, or fail.
  const byStatus = Map.groupBy([...problems, "internal_error" as const], (code) => PROBLEMS[code].status);
  const refusals = [...byStatus].map(([status, codes]) => [status, refusalOf(status, codes)]);
  return Object.fromEntries([...refusals, ...answers]);
}

function refusalOf(status: number, codes: readonly ErrorCode[]): JsonObject {
  const schema = { allOf: [{ $ref: "#/components/schemas/Problem" }, { properties: { code: { enum: codes } } }] };
  return { description: STATUS_CODES[status], content: { "application/problem+json": { schema } } };
}

const contentOf = (schema: GenericSchema) => ({
  [schema.type === "string" ? "text/plain" : "application/json"]: { schema: schemaOf(schema) },
});

/** The JSON Schema of a schema. Checks that it cannot express are left out, and texts are described as they are sent. */
function schemaOf(schema: GenericSchema): JsonObject {
  const { $schema: _, ...described } = toJsonSchema(schema, {
    target: "draft-2020-12",
    errorMode: "ignore",
    typeMode: "input",
  });
  return described;
}

const PROBLEM = {
  type: "object",
  description: "An error (RFC 9457).",
  required: ["type", "title", "status", "detail", "code", "requestId"],
  properties: {
    type: { type: "string" },
    title: { type: "string" },
    status: { type: "integer" },
    detail: { type: "string" },
    code: { type: "string", description: "Stable, for programs." },
    requestId: { type: "string" },
    errors: {
      type: "array",
      items: {
        type: "object",
        required: ["path", "message"],
        properties: { path: { type: "string" }, message: { type: "string" } },
      },
    },
  },
};
