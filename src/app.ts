import { H3 } from "h3";
import { AppError } from "./errors.ts";
import { type ExchangeOptions, type Handler, nodeRequest, type Route, toEventHandler } from "./http/exchange.ts";

/**
 * Puts the routes on an h3 app. Paths match to the letter on the request target as it was sent: no decoding, no dot
 * segments, no trailing slash. A known path under another method is 405, anything else 404.
 */
export function createApp(routes: readonly Route[], options: ExchangeOptions): H3 {
  const app = new H3({
    silent: true,
    // What h3 has not thrown itself is a defect of ours; what it has is of a target that it cannot read.
    onError: ({ unhandled, cause }, event) =>
      fail(unhandled ? cause : new AppError("not_found"))(event) as Promise<Response>,
  });
  const methods = new Map<string, string[]>();
  for (const { method, path } of routes) {
    const own = method === "GET" ? ["GET", "HEAD"] : [method];
    methods.set(path, [...(methods.get(path) ?? []), ...own]);
  }

  function fail(error: unknown) {
    const handler: Handler = () => {
      throw error;
    };
    return toEventHandler("-", handler, false, options);
  }
  function refuse(code: "not_found" | "method_not_allowed" | "bad_request", headers: Record<string, string>) {
    return fail(new AppError(code, { headers }));
  }

  app.use((event, next) => {
    const request = nodeRequest(event);
    // HTTP/1.1 requires exactly one (RFC 9112, 3.2). Of several Node keeps the first; a proxy may have gone by another.
    const hosts = countHosts(request.rawHeaders);
    if (hosts > 1 || (hosts === 0 && request.httpVersion !== "1.0"))
      return refuse("bad_request", { Connection: "close" })(event);
    const allowed = methods.get(pathOf(request.url ?? ""));
    if (allowed === undefined) return refuse("not_found", {})(event);
    if (!allowed.includes(request.method ?? ""))
      return refuse("method_not_allowed", { Allow: allowed.join(", ") })(event);
    return next();
  });
  for (const { method, path, handler, quiet } of routes) {
    app.on(method, path, toEventHandler(path, handler, quiet ?? false, options));
  }
  return app;
}

/** Counts `Host` headers in the flat list of names and values as they were sent. */
function countHosts(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length === 4 && name.toLowerCase() === "host") count++;
  }
  return count;
}

/** The path of a request target as sent, in origin form or absolute form (RFC 9112, 3.2). */
function pathOf(target: string): string {
  const path = target.startsWith("/") ? target : target.replace(/^https?:\/\/[^/?#]*/i, "");
  const query = path.indexOf("?");
  return query === -1 ? path : path.slice(0, query);
}
