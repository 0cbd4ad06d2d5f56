import { AppError } from "../errors.ts";
import type { Route } from "./exchange.ts";

/** What a method on a request target is answered with when no route takes it: `not_found` or `method_not_allowed`. */
export type Refusal = (method: string, target: string) => AppError | undefined;

/**
 * Creates the refusal of what no route takes. Paths match to the letter on the request target as it was sent: no
 * decoding, no dot segments, no trailing slash.
 */
export function createRefusal(routes: readonly Pick<Route, "method" | "path">[]): Refusal {
  const methods = new Map<string, string[]>();
  for (const { method, path } of routes) {
    const own = method === "GET" ? ["GET", "HEAD"] : [method];
    methods.set(path, [...(methods.get(path) ?? []), ...own]);
  }

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
