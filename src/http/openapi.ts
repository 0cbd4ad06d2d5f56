import { STATUS_CODES } from "node:http";
import { toJsonSchema } from "@valibot/to-json-schema";
import type { GenericSchema } from "valibot";
import { type ErrorCode, PROBLEMS } from "../errors.ts";
import type { Endpoint } from "./endpoint.ts";

type JsonObject = Record<string, unknown>;

/** The codes of any request: it may be refused for what it is, or fail. */
export const ANY_REQUEST: readonly ErrorCode[] = [
  "bad_request",
  "request_timeout",
  "headers_too_large",
  "internal_error",
];

/** Describes endpoints as OpenAPI 3.1. */
export function openApiOf(endpoints: readonly Endpoint[], version: string): JsonObject {
  const paths: Record<string, JsonObject> = {};
  const ids = new Set<string>();
  for (const endpoint of endpoints) {
    // OPTIONS is the business of browsers, and of senders that ask for consent.
    if (endpoint.method === "OPTIONS") continue;
    const path = namedPath(endpoint).replace(PARAMETER, "/{$1}");
    paths[path] = { ...paths[path], [methodOf(endpoint)]: operationOf(endpoint, ids) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "authserve",
      version,
      description: "Logs one user in with at most one session, and receives webhooks.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/" }],
    paths,
    components: { schemas: { Problem: PROBLEM_SCHEMA }, securitySchemes: SECURITY_SCHEMES },
  };
}

const SECURITY_SCHEMES = {
  token: { type: "http", scheme: "bearer", bearerFormat: "JWT" },
  machineToken: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "ask_…",
    description: "A token for a program, of `authserve tokens create`, with the scope that is named.",
  },
  cookie: {
    type: "apiKey",
    in: "cookie",
    name: "authserve",
    description:
      "The cookie of the login page. On HTTPS its name is `__Host-authserve`, or `__Secure-authserve` with `COOKIE_DOMAIN`.",
  },
};

const SESSION = [{ token: [] }, { cookie: [] }];

/** What is enough for an endpoint. Without a session, an allowed address is. */
function securityOf({ isGuarded = false, scope }: Endpoint): object[] {
  if (scope === undefined) return isGuarded ? SESSION : [];
  return [...(isGuarded ? SESSION : [{}]), { machineToken: [scope] }];
}

/** An endpoint for every method is described by its most usual one. */
const methodOf = ({ method }: Endpoint) => (method === "*" ? "get" : method.toLowerCase());

function operationOf(endpoint: Endpoint, ids: Set<string>): JsonObject {
  const { method, summary, needs, request } = endpoint;
  const parameters = parametersOf(endpoint);
  return {
    operationId: idOf(endpoint, ids),
    summary,
    ...(needs ? { description: `Needs ${needs}.` } : {}),
    ...(method === "*" ? { "x-every-method": true } : {}),
    security: securityOf(endpoint),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(request ? { requestBody: { required: true, content: requestOf(request, endpoint.requestTypes) } } : {}),
    responses: responsesOf(endpoint),
  };
}

const PARAMETER = /\/:([A-Za-z]+)/g;

/** The path of an endpoint, with a name for what may stand at its end. */
const namedPath = ({ path }: Endpoint) => path.replace(/\*\*$/, ":path");

/** Paths that differ in their punctuation only would get the same id. */
function idOf(endpoint: Endpoint, ids: Set<string>): string {
  const words = endpoint.path.replace(/[^A-Za-z0-9]+(.)?/g, (_, next = "") => next.toUpperCase());
  let id = methodOf(endpoint) + words;
  for (let n = 2; ids.has(id); n++) id = `${methodOf(endpoint)}${words}_${n}`;
  ids.add(id);
  return id;
}

function parametersOf(endpoint: Endpoint): JsonObject[] {
  const { query } = endpoint;
  const inPath = [...namedPath(endpoint).matchAll(PARAMETER)].map(([, name]) =>
    parameterOf(name as string, "path", STRING),
  );
  // A number in a query is a text there. Its output is described, because clients write numbers as texts by themselves.
  const { properties = {} } = query ? schemaOf(query, "output") : {};
  const inQuery = Object.entries(properties as JsonObject).map(([name, schema]) =>
    parameterOf(name, "query", withTypedDefault(schema as JsonObject)),
  );
  return [...inPath, ...inQuery];
}

const STRING = { type: "string" };

const parameterOf = (name: string, place: "path" | "query", schema: JsonObject) => ({
  name,
  in: place,
  required: place === "path",
  schema,
});

/** A default is written as text, as in a query. */
function withTypedDefault(schema: JsonObject): JsonObject {
  return schema.type === "integer" && "default" in schema ? { ...schema, default: Number(schema.default) } : schema;
}

/** Unknown members of a JSON body are refused. */
function requestOf(schema: GenericSchema, types: readonly string[] = ["application/json"]): JsonObject {
  const described = schemaOf(schema);
  const isOpen = described.type !== "object" || "additionalProperties" in described;
  const strict = isOpen ? described : { ...described, additionalProperties: false };
  return Object.fromEntries(types.map((type) => [type, { schema: type === "application/json" ? strict : described }]));
}

function responsesOf(endpoint: Endpoint): JsonObject {
  const { statuses = [200], problems = [], problemStatuses = {} } = endpoint;
  const statusOf = (code: ErrorCode): number => problemStatuses[code] ?? PROBLEMS[code].status;
  const codes = Map.groupBy([...problems, ...ANY_REQUEST], statusOf);
  const all = [...new Set([...statuses, ...codes.keys()])].sort((one, other) => one - other);
  const responses = all.map((status) => {
    const answer = statuses.includes(status) ? answerOf(endpoint, status) : {};
    const content = { ...answer, ...refusalOf(codes.get(status)), ...(endpoint.isBodiless ? TEXT : {}) };
    return [status, { description: STATUS_CODES[status], content }];
  });
  return Object.fromEntries(responses);
}

const TEXT = { "text/plain": { schema: STRING } };

function answerOf({ response, mediaTypes = {}, otherType }: Endpoint, status: number): JsonObject {
  const other =
    otherType === undefined ? {} : { [otherType]: otherType === "application/json" ? {} : { schema: STRING } };
  const types = response.type === "string" ? (mediaTypes[status] ?? "text/plain") : "application/json";
  return { ...Object.fromEntries([types].flat().map((type) => [type, { schema: schemaOf(response) }])), ...other };
}

function refusalOf(codes: readonly ErrorCode[] | undefined): JsonObject {
  if (codes === undefined) return {};
  const schema = { allOf: [{ $ref: "#/components/schemas/Problem" }, { properties: { code: { enum: codes } } }] };
  return { "application/problem+json": { schema } };
}

/** The JSON Schema of what a schema reads, or of its output. Checks that JSON Schema cannot express are left out. */
function schemaOf(schema: GenericSchema, typeMode: "input" | "output" = "input"): JsonObject {
  const { $schema: _, ...described } = toJsonSchema(schema, {
    target: "draft-2020-12",
    errorMode: "ignore",
    typeMode,
  });
  return described;
}

/** The JSON Schema of a problem (RFC 9457). */
const PROBLEM_SCHEMA = {
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
      description: "The faults of a body or a query.",
      items: {
        type: "object",
        required: ["path", "message"],
        properties: { path: { type: "string" }, message: { type: "string" } },
      },
    },
    supersededAt: {
      type: "string",
      format: "date-time",
      description: "When a login replaced the session. Only `session_invalidated` has it.",
    },
    supersededBy: {
      type: "object",
      description: "Where that login came from.",
      required: ["network", "userAgent"],
      properties: { network: { type: "string" }, userAgent: { type: ["string", "null"] } },
    },
  },
};
