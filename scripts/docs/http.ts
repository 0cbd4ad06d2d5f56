import { type AppParts, listEndpoints } from "../../src/app.ts";
import { SETTINGS } from "../../src/config/settings.ts";
import { type ErrorCode, PROBLEMS } from "../../src/errors.ts";
import { ANY_REQUEST, openApiOf } from "../../src/http/openapi.ts";
import { defaultSource } from "../../src/webhook/default-source.ts";
import { type JsonSchema, limitsOf, typeOf } from "./json-schema.ts";
import { code, codeBlock, codes, list, page, table } from "./markdown.ts";

const SOURCE = defaultSource({ path: SETTINGS.WEBHOOK_PATH.schema.default, secrets: [], bodyLimitBytes: 0 });

type Content = Record<string, { schema: JsonSchema }>;

interface Operation {
  summary: string;
  description?: string;
  security: Record<string, string[]>[];
  parameters?: { name: string; in: string; required: boolean; schema: JsonSchema }[];
  requestBody?: { content: Content };
  responses: Record<string, { content: Content }>;
  "x-every-method"?: true;
}

/** The page of endpoints, from the OpenAPI description. */
export function httpPage(): string {
  const operations = Object.entries(describedPaths()).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  return page(
    "Endpoints",
    "This is what `GET /openapi.json` describes. Bodies are JSON unless a media type is named, and [errors](errors.md) have codes.",
    list([
      "Every response has an `X-Request-ID`: that of the request if it is valid, else a new one. A valid id has up to 128 letters, digits and `. _ : @ + / = -`.",
      "`HEAD` works wherever `GET` does.",
      `Any request may get ${errorsOf(ANY_REQUEST)}. An unknown path gets 404 \`not_found\`, and another method 405 \`method_not_allowed\`.`,
      "The session comes as `Authorization: Bearer <accessToken>`, or in the cookie of the login page.",
      "Types are written as in TypeScript. A `DateTime` is a text such as `2026-01-31T12:00:00.000Z`.",
    ]),
    ...operations.flatMap(({ path, method, operation }) => describe(path, method, operation)),
  );
}

function describedPaths(): Record<string, Record<string, Operation>> {
  // The handlers are created but never run, so the other parts may be missing.
  const browser = { secret: "no secret" } as AppParts["browser"];
  const parts: Partial<AppParts> = {
    sources: [SOURCE],
    deliveries: {} as AppParts["deliveries"],
    browser,
    invitations: {} as AppParts["invitations"],
    clients: { clients: [{}], browser } as unknown as AppParts["clients"],
    admin: {} as AppParts["admin"],
    checkHost: (_, handler) => handler,
    corsOrigins: [],
  };
  const { paths } = openApiOf(listEndpoints(parts as AppParts), "");
  return paths as Record<string, Record<string, Operation>>;
}

function describe(path: string, method: string, operation: Operation): string[] {
  const { summary, description, security, requestBody, responses } = operation;
  const inputs = inputsOf(operation);
  const types = Object.keys(requestBody?.content ?? {});
  const answers = answersOf(responses);
  const texts = answers.filter(({ type }) => type !== JSON_TYPE);
  const objects = answers.filter(({ type }) => type === JSON_TYPE);
  const problems = problemsOf(responses);
  const facts = [
    ...needsOf(security),
    ...(description ? [description] : []),
    ...(types.some((type) => type !== JSON_TYPE) ? [`Body: ${codes(types)}`] : []),
    ...(texts.length > 0 ? [`Answer: ${texts.map(answerText).join("; ")}`] : []),
    ...(problems.length > 0 ? [`Errors: ${errorsOf(problems)}`] : []),
  ];
  return [
    `## ${operation["x-every-method"] ? "*" : method.toUpperCase()} ${path}`,
    summary,
    ...(facts.length > 0 ? [list(facts)] : []),
    ...(inputs.length > 0 ? [table(["request", "in", "type", "limits and meaning"], inputs)] : []),
    ...objects.flatMap(({ statuses, schema }) => [`Answer ${statuses.join(", ")}:`, codeBlock(typeOf(schema), "ts")]),
  ];
}

/** What is enough for an endpoint, unless its summary says it. */
function needsOf(security: Operation["security"]): string[] {
  if (!security.some((one) => "token" in one)) return [];
  const [scope] = security.flatMap(({ machineToken = [] }) => machineToken);
  return [scope === undefined ? "Needs the session." : `Needs the session, or a token with the scope ${code(scope)}.`];
}

/** The rows of the parameters and of the members of the body. */
function inputsOf({ parameters = [], requestBody }: Operation): string[][] {
  const [schema] = Object.values(requestBody?.content ?? {}).map((one) => one.schema);
  return [
    ...parameters.map((one) => inputOf(one.name, one.in, one.required, one.schema)),
    ...(schema ? membersOf(schema) : []),
  ];
}

/** The rows of an object and of the objects in it. */
function membersOf({ properties = {}, required = [] }: JsonSchema, prefix = ""): string[][] {
  return Object.entries(properties).flatMap(([name, member]) =>
    member.properties
      ? membersOf(member, `${prefix}${name}.`)
      : [inputOf(prefix + name, "body", required.includes(name), member)],
  );
}

function inputOf(name: string, place: string, isRequired: boolean, schema: JsonSchema): string[] {
  const limits = [...(isRequired ? ["required"] : []), ...limitsOf(schema)].join(", ");
  const meaning = [limits, schema.description ?? ""].filter((text) => text !== "").join(". ");
  return [code(name), place, code(typeOf(schema)), meaning];
}

interface Answer {
  statuses: string[];
  type: string;
  schema: JsonSchema;
}

const answerText = ({ statuses, type }: Answer) => `${statuses.join(", ")} ${code(type)}`;

const JSON_TYPE = "application/json";
const PROBLEM = "application/problem+json";

/** The answers that are no problems. Those with the same body are one. */
function answersOf(responses: Operation["responses"]): Answer[] {
  const all = Object.entries(responses).flatMap(([status, { content }]) =>
    Object.entries(content)
      .filter(([type]) => type !== PROBLEM)
      .map(([type, { schema }]) => ({ status, type, schema })),
  );
  const groups = Map.groupBy(all, ({ type, schema }) => type + JSON.stringify(schema));
  return [...groups.values()].flatMap(([first, ...others]) =>
    first ? [{ ...first, statuses: [first, ...others].map(({ status }) => status) }] : [],
  );
}

/** The codes of an operation, besides those of any request. */
function problemsOf(responses: Operation["responses"]): ErrorCode[] {
  return Object.values(responses)
    .flatMap(({ content }) => content[PROBLEM]?.schema.allOf?.[1]?.properties?.code?.enum as ErrorCode[] | undefined)
    .filter((name) => name !== undefined && !ANY_REQUEST.includes(name)) as ErrorCode[];
}

/** Codes grouped by status: "400 `malformed_json`, `validation_failed`; 401 …". */
function errorsOf(problems: readonly ErrorCode[]): string {
  const byStatus = Map.groupBy(problems, (name): number => PROBLEMS[name].status);
  return [...byStatus].map(([status, names]) => `${status} ${codes(names)}`).join("; ");
}
