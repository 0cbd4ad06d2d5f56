import type { IncomingMessage } from "node:http";
import { type EventHandler, H3 } from "h3";
import { AppError } from "./errors.ts";
import { methodsOf, type Refusal } from "./http/allowed-methods.ts";
import { type ExchangeOptions, type Handler, nodeRequest, type Route, toEventHandler } from "./http/exchange.ts";
import { countHeader } from "./http/raw-headers.ts";

/** Puts the routes on an h3 app, and refuses what none of them takes. */
export function createApp(routes: readonly Route[], refusalOf: Refusal, options: ExchangeOptions): H3 {
  const app = new H3({
    silent: true,
    // What h3 has not thrown itself is a defect of ours; what it has is of a target that it cannot read.
    onError: ({ unhandled, cause }, event) =>
      fail(unhandled ? cause : new AppError("not_found"))(event) as Promise<Response>,
  });

  function fail(error: unknown) {
    const handler: Handler = () => {
      throw error;
    };
    return toEventHandler({ path: "-", handler }, options);
  }

  /** Runs a route's handler, unless the request is refused. A middleware would take a closure and two promises each time. */
  function unlessRefused(handle: EventHandler): EventHandler {
    return (event) => {
      const refusal = refusalTo(nodeRequest(event), refusalOf);
      return refusal ? fail(refusal)(event) : handle(event);
    };
  }

  for (const route of routes) {
    const handle = unlessRefused(toEventHandler(route, options));
    for (const method of methodsOf(route)) app.on(method, route.path, handle);
  }
  app.all("/**", unlessRefused(fail(new AppError("not_found"))));
  return app;
}

/** The answer to a request that none of the routes is to see. */
function refusalTo(request: IncomingMessage, refusalOf: Refusal): AppError | undefined {
  const isOverloaded = request.rawHeaders.length > 2 * MAX_HEADER_FIELDS;
  if (isOverloaded) return new AppError("headers_too_large", { headers: { Connection: "close" } });
  if (request.httpVersionMajor !== 1 || !hasUsableHost(request) || !hasUsableCoding(request))
    return new AppError("bad_request", { headers: { Connection: "close" } });
  return refusalOf(request.method ?? "", request.url ?? "");
}

// Each takes ten times its length of the memory. Senders and proxies have some forty.
const MAX_HEADER_FIELDS = 100;

// `uri-host [ ":" port ]` (RFC 9110, 7.2), which may be empty.
const HOST = /^(?:[A-Za-z0-9._~%!$&'()*+,;=-]*|\[[0-9A-Fa-f:.]+\])(?::[0-9]{0,5})?$/;

/** Whether a request names at most one host, and HTTP/1.1 exactly one (RFC 9112, 3.2). A proxy may have gone by another. */
function hasUsableHost({ rawHeaders, headers, httpVersion }: IncomingMessage): boolean {
  const count = countHeader(rawHeaders, "host");
  return count === 1 ? HOST.test(headers.host as string) : count === 0 && httpVersion === "1.0";
}

/**
 * Whether the body comes as it is or, by HTTP/1.1, in chunks (RFC 9112, 6.1). Node lets other codings pass in front of
 * `chunked`, and undoes none.
 */
function hasUsableCoding({ headers, httpVersion }: IncomingMessage): boolean {
  const coding = headers["transfer-encoding"];
  return coding === undefined || (coding.toLowerCase() === "chunked" && httpVersion === "1.1");
}
