import type { IncomingMessage } from "node:http";
import * as v from "valibot";
import { AppError } from "../errors.ts";
import { type Endpoint, type RequestHandler, reply } from "./endpoint.ts";

/**
 * Lets pages of these origins call endpoints. Others get no headers, so that browsers keep responses from their pages.
 */
export function withCors(endpoints: readonly Endpoint[], origins: readonly string[]): Endpoint[] {
  if (origins.length === 0) return [...endpoints];
  return endpoints.flatMap((endpoint) => [
    { ...endpoint, headersFor: headersFor(origins) },
    {
      method: "OPTIONS",
      path: endpoint.path,
      summary: "Answers the preflight request of an origin in `CORS_ALLOWED_ORIGINS`.",
      response: v.string(),
      handler: preflightHandler(origins, endpoint.method),
      quiet: true,
      headersFor: headersFor(origins),
    },
  ]);
}

/** The headers that let a page of an allowed origin read a response, also one to a request with the cookie. */
const headersFor =
  (origins: readonly string[]) =>
  ({ headers: { origin } }: IncomingMessage): Record<string, string> => {
    if (origin === undefined || !origins.includes(origin)) return { Vary: "Origin" };
    return {
      "Access-Control-Allow-Origin": origin,
      "Access-Control-Allow-Credentials": "true",
      "Access-Control-Expose-Headers": "Retry-After, WWW-Authenticate, X-Request-ID",
      Vary: "Origin",
    };
  };

/** Answers the preflight request of an allowed origin for a path with this method (Fetch, CORS protocol). */
function preflightHandler(origins: readonly string[], method: string): RequestHandler {
  return ({ request: { headers } }) => {
    const isPreflight = headers["access-control-request-method"] !== undefined;
    if (!isPreflight || headers.origin === undefined || !origins.includes(headers.origin))
      throw new AppError("method_not_allowed", { headers: { Allow: `${method}, OPTIONS` } });
    return {
      ...reply(200, ""),
      headers: {
        "Content-Type": "text/plain",
        "Access-Control-Allow-Methods": method,
        "Access-Control-Allow-Headers": "Authorization, Content-Type",
        "Access-Control-Max-Age": "600",
      },
    };
  };
}
