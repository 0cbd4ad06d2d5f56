import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { H3, type H3Event } from "h3";
import { NodeRequest } from "srvx/node";
import { AppError } from "../errors.ts";
import { gather } from "../lib/gather.ts";
import { headerValues } from "./headers.ts";
import { type Answering, answer, type Handler, type PathParams, type Route, type RouteOptions } from "./route.ts";

/** What a method on a request target is refused with when no route takes it: `not_found` or `method_not_allowed`. */
export type Refusal = (method: string, target: string) => AppError;

/** The routes behind Node's HTTP server. */
export interface Router {
  listener: RequestListener;
  refusal: Refusal;
}

// Answered together, deliveries came at 1.13 of the rate with 64 connections and at 1.12 with 256; 64 at once are no faster.
const MOST_TOGETHER = 32;

// The answer has gone to Node's response already.
const ANSWERED = new Response(null);

/** Lets h3 find the route of each request. A target that is not written as its route is, to the letter, finds none. */
export function createRouter(routes: readonly Route[], options: RouteOptions): Router {
  const refusal: Refusal = (method, target) => refuse(routes, method, target);
  const unrouted = {
    handler: checked(({ request }) => {
      throw refusal(request.method ?? "", request.url ?? "");
    }),
  };
  const runUnrouted = (event: H3Event) => run(event, unrouted, {});

  async function run(event: H3Event, route: Answering, params: PathParams): Promise<Response> {
    await answer(route, nodeOf(event).res, params, options);
    return ANSWERED;
  }

  const app = new H3({
    silent: true,
    // What h3 throws is of a target that it cannot read; handlers answer for themselves.
    onError: (_error, event) => runUnrouted(event),
  });
  for (const route of routes) {
    const own = { ...route, handler: checked(route.handler) };
    const handle = (event: H3Event) => {
      const params = paramsOf(route.path, nodeOf(event).req.url ?? "");
      return params === null ? runUnrouted(event) : run(event, own, params);
    };
    for (const method of methodsOf(route)) app.on(method, route.path, handle);
  }
  app.all("/**", runUnrouted);

  const receive = gather((response: ServerResponse) => {
    // Handlers answer for their own errors: what is left is a connection that cannot be written to.
    Promise.resolve(app.fetch(new NodeRequest({ req: response.req, res: response }))).catch(() => response.destroy());
  }, MOST_TOGETHER);
  return {
    refusal,
    listener: (_request, response) => receive(response),
  };
}

/** Node's request and response behind an h3 event. Throws when the app runs on anything but Node's HTTP server. */
function nodeOf(event: H3Event): { req: IncomingMessage; res: ServerResponse } {
  const { req, res } = event.runtime?.node ?? {};
  if (!req || !res) throw new Error("the service runs on Node's HTTP server only");
  return { req: req as IncomingMessage, res: res as ServerResponse };
}

type MethodName = Exclude<Route["method"], "*"> | "HEAD" | "";

/** The methods that a route takes, as h3 names them: "" is every method. A HEAD is asked of what a GET is (RFC 9110, 9.3.2). */
function methodsOf({ method }: Pick<Route, "method">): readonly MethodName[] {
  if (method === "*") return [""];
  return method === "GET" ? ["GET", "HEAD"] : [method];
}

function refuse(routes: readonly Route[], method: string, target: string): AppError {
  const allowed = routes.filter(({ path }) => paramsOf(path, target) !== null).flatMap(methodsOf);
  if (allowed.length === 0 || (allowed as string[]).includes(method)) return new AppError("not_found");
  return new AppError("method_not_allowed", { headers: { Allow: allowed.join(", ") } });
}

/**
 * The parameters of a request target that is written as the path of a route is, segment by segment: no decoding but of
 * parameters, no dot segments, no slash more or less. Null for any other, which h3 may still take for the same path.
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

// Up to its path, with the authority.
const ABSOLUTE_FORM = /^https?:\/\/([^/?#]*)/i;

/** The path of a request target as sent, in origin form or absolute form (RFC 9112, 3.2). */
function pathOf(target: string): string {
  const path = target.replace(ABSOLUTE_FORM, "");
  const query = path.indexOf("?");
  return query === -1 ? path : path.slice(0, query);
}

/** A handler that sees only requests which one server and its proxy read alike. */
function checked(handler: Handler): Handler {
  return (exchange) => {
    refuseAmbiguous(exchange.request);
    return handler(exchange);
  };
}

// Each takes ten times its length of the memory. Senders and proxies have some forty.
const MAX_HEADER_FIELDS = 100;

function refuseAmbiguous(request: IncomingMessage): void {
  const headers = { Connection: "close" };
  if (request.rawHeaders.length > 2 * MAX_HEADER_FIELDS) throw new AppError("headers_too_large", { headers });
  const { httpVersion } = request;
  // User info in a target serves to mislead about its host (RFC 9110, 4.2.4).
  const hasUserInfo = ABSOLUTE_FORM.exec(request.url ?? "")?.[1]?.includes("@");
  if (!httpVersion.startsWith("1.") || hasUserInfo || !hasUsableHost(request) || !hasUsableCoding(request))
    throw new AppError("bad_request", { headers });
}

// `uri-host [ ":" port ]` (RFC 9110, 7.2), which may be empty.
const HOST = /^(?:[A-Za-z0-9._~%!$&'()*+,;=-]*|\[[0-9A-Fa-f:.]+\])(?::[0-9]{0,5})?$/;

/** Whether a request names at most one host, and HTTP/1.1 exactly one (RFC 9112, 3.2). A proxy may have gone by another. */
function hasUsableHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  const [host, ...others] = headerValues(rawHeaders, "host");
  return host === undefined ? httpVersion === "1.0" : others.length === 0 && HOST.test(host);
}

/**
 * Whether the body comes as it is or, by HTTP/1.1, in chunks (RFC 9112, 6.1). Node lets other codings pass in front of
 * `chunked`, and undoes none.
 */
function hasUsableCoding({ headers, httpVersion }: IncomingMessage): boolean {
  const coding = headers["transfer-encoding"];
  return coding === undefined || (coding.toLowerCase() === "chunked" && httpVersion === "1.1");
}
