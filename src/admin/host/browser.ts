import type { IncomingMessage } from "node:http";
import type { BlockList } from "node:net";
import { AppError } from "../../errors.ts";
import type { Reply } from "../../http/problem.ts";
import { removedPrefix } from "../../http/proxies.ts";

/** Throws unless the request has the live session. */
export type RequireSession = (request: IncomingMessage) => Promise<unknown>;

/** Where browsers find this service. */
export interface ServedAt {
  trustedProxies: BlockList | undefined;
  /** The path before those of this service: empty, or e.g. `/sso`. */
  base: string;
}

/** The headers of what a browser shows. */
export const securityHeaders = (policy: string): Record<string, string> => ({
  "Content-Security-Policy": policy,
  "Referrer-Policy": "same-origin",
  "X-Frame-Options": "DENY",
});

/** Redirects to a path of this service. */
export function redirect(request: IncomingMessage, place: ServedAt, path: string): Reply {
  return redirectTo(`${prefixOf(request, place)}${path}`);
}

/**
 * Leads a browser without the live session to the login page, and from there back to a path of this service. A person
 * who is no owner is led to the page of the account. Throws the error again if it says neither.
 */
export function redirectAway(error: unknown, request: IncomingMessage, place: ServedAt, path: string): Reply {
  if (!(error instanceof AppError) || error.code === "store_unavailable") throw error;
  // The login page would lead back, because there is a session.
  if (error.code === "owner_only") return redirect(request, place, "/account");
  const prefix = prefixOf(request, place);
  return redirectTo(`${prefix}/login?rd=${prefix}${path}`);
}

const prefixOf = (request: IncomingMessage, { base, trustedProxies }: ServedAt) =>
  base || removedPrefix(request, trustedProxies);

const redirectTo = (location: string): Reply => ({
  status: 302,
  body: "",
  headers: { "Content-Type": "text/plain", Location: location },
});
