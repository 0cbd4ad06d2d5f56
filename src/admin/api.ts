import * as v from "valibot";
import { makeAudited } from "../audit/change.ts";
import type { AuditAction, WriteAudit } from "../audit/store.ts";
import { AppError, type ErrorCode } from "../errors.ts";
import { JOB_CURSOR, LIST_CURSOR } from "../events/cursors.ts";
import { MAX_FOR_MS } from "../events/limits.ts";
import { readJson } from "../http/body.ts";
import { type Endpoint, type RequestContext, type RequestHandler, reply } from "../http/endpoint.ts";
import { readQuery } from "../http/fields.ts";
import { type ClientAccess, requireAllowedClient } from "../http/proxies.ts";
import { parseIsoTime } from "../lib/iso-time.ts";

// What the endpoints of `/admin/api` have in common.

/** Who has sent a request: the user of the session, or the name of a token. */
interface Caller {
  kind: "session" | "token";
  name: string;
}

/** Who may use the API. */
export interface AdminGuard {
  /** Throws unless the request has the live session, or a token with this scope. Null: no token is enough. */
  authorize: (requester: Pick<RequestContext, "request" | "address">, scope: string | null) => Promise<Caller>;
  /** Writes a change to the audit. */
  audit: WriteAudit;
  /** Null: from any address. */
  access: ClientAccess | null;
}

const GUARD_PROBLEMS: ErrorCode[] = [
  "missing_token",
  "invalid_token",
  "session_invalidated",
  "insufficient_scope",
  "too_many_wrong_tokens",
  "not_found",
  "store_unavailable",
];
const BODY_PROBLEMS: ErrorCode[] = [
  "malformed_json",
  "cross_site_request",
  "payload_too_large",
  "unsupported_media_type",
  "validation_failed",
];

type CallerHandler = (context: RequestContext, caller: Caller) => ReturnType<RequestHandler>;

/**
 * Lets a handler run for the live session, or for a token with the scope, from allowed addresses only. All others get
 * 401, 403 or 404.
 */
function guarded({ authorize, access }: AdminGuard, scope: Scope, handler: CallerHandler): RequestHandler {
  return async (context) => {
    const { request, address } = context;
    if (access !== null) requireAllowedClient(request, address, access);
    const caller = await authorize(context, scope === "session" ? null : scope);
    return handler(context, caller);
  };
}

type Members = v.ObjectSchema<v.ObjectEntries, undefined>;
/** The scope with which a token is enough, or `session` if no token is. */
type Scope = "events:read" | "events:write" | "events:erase" | "listen" | "session";

type Described = Pick<Endpoint, "path" | "summary" | "response"> & Partial<Endpoint> & { scope: Scope };

/** An endpoint for the logged-in user, and for a program whose token has the scope. */
function guardedEndpoint(
  guard: AdminGuard,
  {
    scope,
    problems = [],
    handler,
    ...described
  }: Omit<Described, "handler"> & Pick<Endpoint, "method"> & { handler: CallerHandler },
): Endpoint {
  return {
    ...described,
    isGuarded: true,
    ...(scope !== "session" && { scope }),
    problems: [...GUARD_PROBLEMS, ...problems],
    handler: guarded(guard, scope, handler),
  };
}

/** An endpoint that reads. */
export function guardedGet(
  guard: AdminGuard,
  { problems = [], ...described }: Described & Pick<Endpoint, "handler">,
): Endpoint {
  return guardedEndpoint(guard, {
    quiet: true,
    ...described,
    method: "GET",
    problems: [...(described.query ? (["validation_failed"] as const) : []), ...problems],
  });
}

/** An endpoint that answers the logged-in user with what `read` returns. */
export function readEndpoint(
  guard: AdminGuard,
  { read, ...described }: Described & { read(): Promise<unknown> },
): Endpoint {
  return guardedGet(guard, { ...described, handler: async () => reply(200, await read()) });
}

/** The same for an endpoint with a query. */
export function queryEndpoint<Query extends Members>(
  guard: AdminGuard,
  {
    query,
    read,
    ...described
  }: Described & { query: Query; read(query: v.InferOutput<Query>, context: RequestContext): Promise<unknown> },
): Endpoint {
  const handler: RequestHandler = async (context) => reply(200, await read(readQuery(context.request, query), context));
  return guardedGet(guard, { ...described, query, handler });
}

/** What the audit has of a request that changes something, without data of payloads. */
interface Audited<Body, Answer> {
  action: AuditAction;
  /** What is asked for. Null if the request changes nothing, as a dry run. */
  asked: (body: Body) => object | null;
  /** What has come of it. Null if nothing was changed. */
  outcome: (answer: Answer) => object | null;
}

/** The outcome of a change that is made or not. */
export const ifChanged = ({ changed }: { changed: boolean }) => (changed ? {} : null);

/**
 * An endpoint that changes something for the logged-in user, and answers with what `change` returns. `audited` is null
 * if it only computes something.
 */
export function changeEndpoint<Body extends Members, Answer extends v.GenericSchema>(
  guard: AdminGuard,
  {
    request,
    limitBytes = 16 * 1024,
    problems = [],
    change,
    audited,
    ...described
  }: Described & {
    request: Body;
    limitBytes?: number;
    response: Answer;
    change(body: v.InferOutput<Body>): Promise<unknown>;
    audited: Audited<v.InferOutput<Body>, v.InferOutput<Answer>> | null;
  },
): Endpoint {
  return guardedEndpoint(guard, {
    ...described,
    method: "POST",
    ...(audited && { auditAction: audited.action }),
    request,
    problems: [...BODY_PROBLEMS, ...problems],
    async handler(context, { kind, name }) {
      const body = await readJson(context.request, request, limitBytes);
      const detail = audited?.asked(body) ?? null;
      if (!audited || detail === null) return reply(200, await change(body));
      const asked = { who: `${kind}:${name}`, origin: context.address, action: audited.action, detail };
      return reply(
        200,
        await makeAudited(
          guard.audit,
          asked,
          () => change(body),
          (answer) => audited.outcome(answer as v.InferOutput<Answer>),
        ),
      );
    },
  });
}

export const fieldError = (path: string, message: string) =>
  new AppError("validation_failed", { errors: [{ path, message }] });

// The fields of several requests and answers. Texts of errors name what a value must be.

export const text = v.pipe(v.string(), v.nonEmpty("must not be empty"), v.maxLength(1000, "is too long"));
export const time = v.pipe(
  v.string(),
  v.rawTransform(({ dataset, addIssue, NEVER }) => {
    const parsed = parseIsoTime(dataset.value);
    if (parsed !== null) return parsed;
    addIssue({ message: "must be a time, e.g. 2026-01-31T12:00:00Z" });
    return NEVER;
  }),
  v.description("A time in ISO 8601, e.g. 2026-01-31T12:00:00Z."),
);
export const forMs = v.pipe(
  v.number("must be a number"),
  v.integer("must be a whole number"),
  v.minValue(1, "must be above 0"),
  v.maxValue(MAX_FOR_MS, "must be at most a year"),
  v.description("Milliseconds."),
);
export const count = v.pipe(v.number(), v.integer(), v.minValue(0));
export const timestamp = v.pipe(v.string(), v.isoTimestamp());
export const cursor = v.nullable(v.string());

const MAX_LIMIT = 500;
export const limit = v.pipe(
  v.string(),
  v.regex(/^[0-9]{1,3}$/, "must be a whole number"),
  v.transform(Number),
  v.number(),
  v.integer(),
  v.minValue(1, "must be at least 1"),
  v.maxValue(MAX_LIMIT, `must be at most ${MAX_LIMIT}`),
);

export const CONDITIONS_OF_JOBS = {
  type: v.optional(text),
  source: v.optional(text),
  since: v.optional(time),
  until: v.optional(time),
  error: v.optional(text),
};
export const CONDITIONS = { ...CONDITIONS_OF_JOBS, search: v.optional(text) };
const NOT_A_CURSOR = "is not a cursor of this request";
export const listCursor = v.pipe(v.string(), v.regex(LIST_CURSOR, NOT_A_CURSOR));
export const jobCursor = v.pipe(v.string(), v.regex(JOB_CURSOR, NOT_A_CURSOR));

/** What a route says of an event, by the present configuration. */
export const RouteVerdict = v.object({
  route: v.string(),
  unmet: v.pipe(
    v.nullable(v.string()),
    v.description(
      "`source`, `types`, `when` and the first condition that does not hold, `origin`, or `time` if that took too long; null if it takes the event.",
    ),
  ),
  expected: v.nullable(v.string()),
  found: v.pipe(v.nullable(v.string()), v.description("The beginning of the value; null if it is missing.")),
});
