import type { GenericSchema } from "valibot";
import { type AppParts, listRoutes } from "../../src/app.ts";
import { SETTINGS } from "../../src/config/setting-table.ts";
import { type ErrorCode, PROBLEMS } from "../../src/errors.ts";
import type { Route } from "../../src/http/route.ts";
import { defaultSource } from "../../src/webhook/default-source.ts";
import { code, list, page } from "./markdown.ts";
import { shapeOf } from "./shape.ts";

const SOURCE = defaultSource({ path: SETTINGS.WEBHOOK_PATH.schema.default, secrets: [], bodyLimitBytes: 0 });

const SESSION = "`Authorization: Bearer <accessToken>`, or the cookie of the login page";

/** The page of endpoints. */
export function endpointsPage(): string {
  // The handlers are created but never run, so the other parts may be missing.
  const parts: Partial<AppParts> = {
    sources: [SOURCE],
    deliveries: {} as AppParts["deliveries"],
    browser: { secret: "no secret" } as AppParts["browser"],
    admin: {} as AppParts["admin"],
    corsOrigins: [],
  };
  const routes = listRoutes(parts as AppParts);
  const named = new Set(routes.flatMap(({ problems = [] }) => problems));
  const ofAny = (Object.keys(PROBLEMS) as ErrorCode[]).filter((name) => !named.has(name));
  return page(
    "Endpoints",
    "Bodies are JSON, and [errors](errors.md) have codes.",
    list([
      "Every response has an `X-Request-ID`: that of the request if it is valid, else a new one. A valid id has up to 128 letters, digits and `. _ : @ + / = -`.",
      "`HEAD` works wherever `GET` does.",
      `Any request may get ${errorsOf(ofAny)}.`,
    ]),
    ...routes.flatMap(describe),
  );
}

function describe(route: Route): string[] {
  const { method, path, summary, isGuarded, request, response, statuses = [200], problems = [] } = route;
  const needs = isGuarded ? SESSION : route.needs;
  const facts = [
    needs && `Needs: ${needs}`,
    request && `Body: ${bodyOf(request)}`,
    `Answer: ${statuses.join(" or ")} with ${bodyOf(response)}`,
    problems.length > 0 && `Errors: ${errorsOf(problems)}`,
  ];
  return [`## ${method} ${path}`, summary, list(facts.filter((fact) => typeof fact === "string"))];
}

/** A string body is sent unchanged, not as JSON. */
function bodyOf(schema: GenericSchema): string {
  return schema.type === "string" ? "text" : code(shapeOf(schema));
}

/** Codes grouped by status: "400 `malformed_json`, `validation_failed`; 401 …". */
function errorsOf(problems: readonly ErrorCode[]): string {
  const byStatus = Map.groupBy(problems, (name) => PROBLEMS[name].status);
  const groups = [...byStatus].sort(([one], [other]) => one - other);
  return groups.map(([status, names]) => `${status} ${names.map(code).join(", ")}`).join("; ");
}
