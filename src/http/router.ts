import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { H3, type H3Event } from "h3";
import { NodeRequest } from "srvx/node";
import { AppError } from "../errors.ts";
import { gather } from "../lib/gather.ts";
import { headerValues } from "./headers.ts";
import {
  type Handler,
  handleRequest,
  type MatchedRoute,
  type PathParams,
  type Route,
  type RouteOptions,
} from "./route.ts";

/** Returns the error for a method and request target that match no route: `not_found` or `method_not_allowed`. */
export type Refusal = (method: string, target: string) => AppError;

/** The routes as a listener for Node's HTTP server. */
export interface Router {
  listener: RequestListener;
  refusal: Refusal;
  /** Serves other routes from the next request on. */
  replaceRoutes(routes: readonly Route[]): void;
}

// Measured: batches of 32 give 1.13 times the deliveries at 64 connections, and 1.12 times at 256. Larger ones give no
// more.
const MAX_BATCH = 32;

// The response was already written to Node's response object.
const ANSWERED = new Response(null);

/** Routes requests with h3. A request target must match its route's path exactly. */
export function createRouter(routes: readonly Route[], options: RouteOptions): Router {
  let table = createTable(routes, options);
  const receive = gather((response: ServerResponse) => {
    // Handlers do not throw. Any error left means that the connection cannot be written to.
    Promise.resolve(table.app.fetch(new NodeRequest({ req: response.req, res: response }))).catch(() =>
      response.destroy(),
    );
  }, MAX_BATCH);
  return {
    refusal: (method, target) => table.refusal(method, target),
    listener: (_request, response) => receive(response),
    replaceRoutes(routes) {
      table = createTable(routes, options);
    },
  };
}

function createTable(routes: readonly Route[], options: RouteOptions): { app: H3; refusal: Refusal } {
  const refusal = createRefusal(routes);
  const unmatched = {
    handler: refusingAmbiguous(({ request }) => {
      throw refusal(request.method ?? "", request.url ?? "");
    }),
  };
  const runUnmatched = (event: H3Event) => run(event, unmatched, {});

  async function run(event: H3Event, route: MatchedRoute, params: PathParams): Promise<Response> {
    await handleRequest(route, nodeOf(event).res, params, options);
    return ANSWERED;
  }

  const app = new H3({
    silent: true,
    // h3 throws for request targets that it cannot parse. Handlers do not throw.
    onError: (_error, event) => runUnmatched(event),
  });
  // h3 takes a path with a slash at its end for the one without it.
  const alike = Map.groupBy(routes, ({ method, path }) => `${method} ${path.replace(/(.)\/$/, "$1")}`);
  for (const group of alike.values()) {
    const matched = group.map((route) => ({ ...route, handler: refusingAmbiguous(route.handler) }));
    const handle = (event: H3Event) => {
      for (const route of matched) {
        const params = paramsOf(route.path, nodeOf(event).req.url ?? "");
        if (params !== null) return run(event, route, params);
      }
      return runUnmatched(event);
    };
    const [first] = matched as [MatchedRoute & Route];
    for (const method of methodsOf(first)) app.on(method, first.path, handle);
  }
  app.all("/**", runUnmatched);
  return { app, refusal };
}

/** Node's request and response behind an h3 event. Throws when the app runs on anything but Node's HTTP server. */
function nodeOf(event: H3Event): { req: IncomingMessage; res: ServerResponse } {
  const { req, res } = event.runtime?.node ?? {};
  if (!req || !res) throw new Error("the service runs on Node's HTTP server only");
  return { req: req as IncomingMessage, res: res as ServerResponse };
}

type MethodName = Exclude<Route["method"], "*"> | "HEAD" | "";

/** The methods of a route, as h3 names them: "" means every method. GET includes HEAD (RFC 9110, 9.3.2). */
function methodsOf({ method }: Pick<Route, "method">): readonly MethodName[] {
  if (method === "*") return [""];
  return method === "GET" ? ["GET", "HEAD"] : [method];
}

function createRefusal(routes: readonly Route[]): Refusal {
  // There may be thousands of sources, and anybody can send requests that match none.
  const byPath = Map.groupBy(routes, ({ path }) => path);
  const withParams = routes.filter(({ path }) => path.includes(":"));
  return (method, target) => {
    const matching = [
      ...withParams.filter(({ path }) => paramsOf(path, target) !== null),
      ...(byPath.get(pathOf(target)) ?? []),
    ];
    const allowed = matching.flatMap(methodsOf);
    if (allowed.length === 0 || (allowed as string[]).includes(method)) return new AppError("not_found");
    return new AppError("method_not_allowed", { headers: { Allow: allowed.join(", ") } });
  };
}

/**
 * The parameters of a request target that matches the path of a route exactly, segment by segment. Only parameters are
 * decoded. Returns null for any other target: h3 also matches dot segments, encoded segments and extra slashes.
 */
function paramsOf(path: string, target: string): PathParams | null {
  const pathname = pathOf(target);
  if (pathname === path) return {};
  if (!path.includes(":")) return null;
  const wanted = path.split("/");
  const given = pathname.split("/");
  if (wanted.length !== given.length) return null;
  const params: PathParams = {};
  for (const [index, segment] of wanted.entries()) {
    const value = given[index] as string;
    if (!segment.startsWith(":")) {
      if (value !== segment) return null;
      continue;
    }
    const decoded = decodeSegment(value);
    if (decoded === null) return null;
    params[segment.slice(1)] = decoded;
  }
  return params;
}

function decodeSegment(segment: string): string | null {
  if (segment === "" || segment === "." || segment === "..") return null;
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}

// Matches everything before the path, and captures the authority.
const ABSOLUTE_FORM = /^https?:\/\/([^/?#]*)/i;

/** The path of a request target as sent, in origin form or absolute form (RFC 9112, 3.2). */
export function pathOf(target: string): string {
  const path = target.replace(ABSOLUTE_FORM, "");
  const query = path.indexOf("?");
  return query === -1 ? path : path.slice(0, query);
}

/** Refuses requests that this server and a proxy may interpret differently. */
function refusingAmbiguous(handler: Handler): Handler {
  return (context) => {
    refuseAmbiguous(context.request);
    return handler(context);
  };
}

// A header takes ten times its length in memory. Webhook senders and proxies use about 40 headers.
const MAX_HEADER_FIELDS = 100;
/** Of the path and all headers but cookies. */
const MAX_HEADER_LENGTH = 16 * 1024;

function refuseAmbiguous(request: IncomingMessage): void {
  const headers = { Connection: "close" };
  if (request.rawHeaders.length > 2 * MAX_HEADER_FIELDS || lengthWithoutCookies(request) > MAX_HEADER_LENGTH)
    throw new AppError("headers_too_large", { headers });
  const { httpVersion } = request;
  // User info in a request target can disguise its host (RFC 9110, 4.2.4).
  const hasUserInfo = ABSOLUTE_FORM.exec(request.url ?? "")?.[1]?.includes("@");
  if (!httpVersion.startsWith("1.") || hasUserInfo || !hasUsableHost(request) || !hasUsableCoding(request))
    throw new AppError("bad_request", { headers });
}

function lengthWithoutCookies({ url = "", rawHeaders, headers }: IncomingMessage): number {
  const length = rawHeaders.reduce((sum, part) => sum + part.length, url.length);
  return length - (headers.cookie?.length ?? 0);
}

// `uri-host [ ":" port ]` (RFC 9110, 7.2), which may be empty.
const HOST = /^(?:[A-Za-z0-9._~%!$&'()*+,;=-]*|\[[0-9A-Fa-f:.]+\])(?::[0-9]{0,5})?$/;

/**
 * Whether a request has at most one Host, and in HTTP/1.1 exactly one (RFC 9112, 3.2). A proxy may have used another.
 */
function hasUsableHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  const [host, ...others] = headerValues(rawHeaders, "host");
  return host === undefined ? httpVersion === "1.0" : others.length === 0 && HOST.test(host);
}

/**
 * Whether the body has no transfer coding or, in HTTP/1.1, is chunked (RFC 9112, 6.1). Node accepts other codings
 * before `chunked`, but does not decode them.
 */
function hasUsableCoding({ headers, httpVersion }: IncomingMessage): boolean {
  const coding = headers["transfer-encoding"];
  return coding === undefined || (coding.toLowerCase() === "chunked" && httpVersion === "1.1");
}
