import { AppError } from "../errors.ts";
import type { Route } from "./exchange.ts";

/** What a method on a request target is answered with when no route takes it: `not_found` or `method_not_allowed`. */
export type Refusal = (method: string, target: string) => AppError | undefined;

/** The methods that a route takes: a HEAD is asked of what a GET is (RFC 9110, 9.3.2). */
export function methodsOf({ method }: Pick<Route, "method">): readonly Method[] {
  return method === "GET" ? ["GET", "HEAD"] : [method];
}

type Method = Route["method"] | "HEAD";

/**
 * Creates the refusal of what no route takes. Paths match to the letter on the request target as it was sent: no
 * decoding, no dot segments, no trailing slash.
 */
export function createRefusal(routes: readonly Pick<Route, "method" | "path">[]): Refusal {
  const methods = new Map<string, string[]>();
  for (const route of routes) methods.set(route.path, [...(methods.get(route.path) ?? []), ...methodsOf(route)]);

  return (method, target) => {
    const allowed = methods.get(pathOf(target));
    if (allowed === undefined) return new AppError("not_found");
    if (allowed.includes(method)) return undefined;
    return new AppError("method_not_allowed", { headers: { Allow: allowed.join(", ") } });
  };
}

/** The path of a request target as sent, in origin form or absolute form (RFC 9112, 3.2). */
function pathOf(target: string): string {
  const path = target.startsWith("/") ? target : target.replace(/^https?:\/\/[^/?#]*/i, "");
  const query = path.indexOf("?");
  return query === -1 ? path : path.slice(0, query);
}
