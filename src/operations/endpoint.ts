import { makeAudited } from "../audit/change.ts";
import type { WriteAudit } from "../audit/store.ts";
import type { ErrorCode } from "../errors.ts";
import { readJson } from "../http/body.ts";
import { type Endpoint, type RequestContext, type RequestHandler, reply } from "../http/endpoint.ts";
import { readQuery } from "../http/fields.ts";
import { type ClientAccess, requireAllowedClient } from "../http/proxies.ts";
import type { Asking, Operation, Scope } from "./operation.ts";

// How the endpoints of `/admin/api` are guarded, described and audited.

/** Who has sent a request: the user of the session, or the name of a token. */
interface Caller {
  kind: "session" | "token";
  name: string;
  /** Whose session or token it is. */
  person: ReturnType<Asking["asker"]>;
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
  "device_not_proved",
  "insufficient_scope",
  "owner_only",
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
  { problems = [], ...described }: Omit<Described, "handler"> & { handler: CallerHandler },
): Endpoint {
  return guardedEndpoint(guard, {
    quiet: true,
    ...described,
    method: "GET",
    problems: [...(described.query ? (["validation_failed"] as const) : []), ...problems],
  });
}

/** The endpoint of an operation. */
export function endpointOf<Context>(guard: AdminGuard, context: Context, one: Operation<Context & Asking>): Endpoint {
  const { path, scope, summary, input, output, problems = [], run } = one;
  const contextOf = ({ person }: Caller) => ({ ...context, asker: () => person });
  const described = { path: `/admin/api/${path}`, scope, summary, response: output };
  if (one.kind === "reading") {
    const hasQuery = Object.keys(input.entries).length > 0;
    const handler: CallerHandler = async ({ request, params }, caller) =>
      reply(200, await run(contextOf(caller), hasQuery ? { ...params, ...readQuery(request, input) } : {}));
    return guardedGet(guard, { ...described, problems, ...(hasQuery && { query: input }), handler });
  }
  const { audited, limitBytes = 16 * 1024 } = one;
  return guardedEndpoint(guard, {
    ...described,
    method: "POST",
    ...(audited && { auditAction: audited.action }),
    request: input,
    problems: [...BODY_PROBLEMS, ...problems],
    async handler({ request, address }, caller) {
      const body = await readJson(request, input, limitBytes);
      const own = contextOf(caller);
      const make = () => run(own, body);
      const detail = audited?.asked(body, own) ?? null;
      if (!audited || detail === null) return reply(200, await make());
      const asked = { who: `${caller.kind}:${caller.name}`, origin: address, action: audited.action, detail };
      return reply(200, await makeAudited(guard.audit, asked, make, audited.outcome));
    },
  });
}
