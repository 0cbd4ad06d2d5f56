import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { BlockList } from "node:net";
import * as v from "valibot";
import { AppError, type ErrorCode } from "../../errors.ts";
import type { Endpoint, RequestContext, RequestHandler } from "../../http/endpoint.ts";
import { isNavigation } from "../../http/headers.ts";
import { problem, type Reply } from "../../http/problem.ts";
import { believed, forwardedOrigin, isTrusted, peerAddress } from "../../http/proxies.ts";
import type { Log } from "../../log.ts";
import type { Authenticate } from "../authenticate.ts";
import { authenticateRequest } from "./guard.ts";
import { isShort, shortTarget } from "./redirect-target.ts";
import { createRenew, isRenewalDue, type RenewalParts } from "./renewal.ts";

/** What forward-auth uses. `now` is in Unix milliseconds. */
export interface VerifyParts extends RenewalParts {
  authenticate: Authenticate;
  /** The address of this service, without a final `/`. */
  publicUrl: string;
  trustedProxies: BlockList | undefined;
  log: Log;
  now: () => number;
}

/**
 * How a proxy passes a redirect on: as a 401 with `Location`, which nginx makes a redirect, or as the redirect itself.
 */
type RedirectStyle = "unauthorized" | "redirect";

const NOBODY = { "Remote-User": "", "Remote-Email": "" };

const PROBLEMS: ErrorCode[] = ["missing_token", "invalid_token", "session_invalidated", "store_unavailable"];

/** What proxies ask before they let a request pass to an app. */
export function verifyEndpoints(parts: VerifyParts): Endpoint[] {
  return [
    {
      method: "*",
      path: "/auth/verify",
      audience: "proxies",
      summary:
        "Tells a proxy whether a request may pass: 200 with `Remote-User` and `Remote-Email`, else 401. For a browser that opens a page, the 401 has the `Location` of the login page.",
      response: v.string(),
      statuses: [200, 401],
      problems: PROBLEMS,
      handler: verifyHandler(parts, "unauthorized"),
      quiet: true,
    },
    {
      method: "*",
      path: "/auth/verify/redirect",
      audience: "proxies",
      summary: "Like `/auth/verify`, but redirects a browser that opens a page, with 302 or 303 instead of 401.",
      response: v.string(),
      statuses: [200, 302, 303],
      problems: PROBLEMS,
      handler: verifyHandler(parts, "redirect"),
      quiet: true,
    },
  ];
}

/**
 * Answers a proxy that asks whether a request may pass: 200 with the user, else 401. A browser that opens a page is
 * sent to the login page, or to the renewal of its session when little of it is left. For other requests the answer
 * then has the renewed cookie. The answer always has the headers of the user, so that a proxy overwrites those of a
 * client.
 */
function verifyHandler(parts: VerifyParts, style: RedirectStyle): RequestHandler {
  const { authenticate, cookie, sessions, lifetimes, publicUrl, trustedProxies, log, now } = parts;

  function sendTo(path: "/login" | "/login/renew", { url, method }: OriginalRequest): Reply {
    const location = `${publicUrl}${path}${url === null ? "" : `?rd=${encodeURIComponent(shortTarget(url))}`}`;
    const isRead = method === "GET" || method === "HEAD";
    const status = style === "unauthorized" ? 401 : isRead ? 302 : 303;
    const headers = { ...NOBODY, Location: location, "Content-Type": "text/plain" };
    return { status, body: "", headers: status === 401 ? { ...headers, "WWW-Authenticate": "Bearer" } : headers };
  }

  const renew = createRenew(parts);

  let isReported = false;
  function reportUnknown(fields: { requestId: string; address: string }): void {
    if (isReported) return;
    isReported = true;
    const message =
      "a login cannot lead back to the page that was asked for: set TRUSTED_PROXIES, and let the proxy send X-Original-URL, or X-Forwarded-Proto, -Host and -Uri";
    log.warn({ event: "original_url_unknown", ...fields }, message);
  }

  /** Refuses a request without a session. */
  function refuse({ request, requestId, address }: RequestContext, error: AppError): Reply {
    if (isNavigation(request)) {
      const original = originalRequest(request, trustedProxies);
      if (original.url === null) reportUnknown({ requestId, address });
      return sendTo("/login", original);
    }
    const { headers, ...refusal } = problem(error, requestId);
    return { ...refusal, headers: { ...headers, ...NOBODY } };
  }

  return async (context) => {
    const { request } = context;
    try {
      const { claims, isByCookie } = await authenticateRequest(request, cookie, authenticate);
      const headers = { "Content-Type": "text/plain", "Remote-User": claims.sub, "Remote-Email": claims.email };
      const passed: Reply = { status: 200, body: "", headers };
      if (!isByCookie) return passed;
      const original = originalRequest(request, trustedProxies);
      // A page with a longer address would lose its query on the way.
      const isPage =
        isNavigation(request) && original.url !== null && isShort(original.url) && original.method === "GET";
      const place = isPage ? "page" : "answer";
      const at = now() / 1000;
      if (!(await isRenewalDue(claims, lifetimes, sessions, at, place))) return passed;
      if (isPage) return sendTo("/login/renew", original);
      const renewed = await renew(claims, at, "answer");
      return renewed === null ? passed : { ...passed, headers: { ...headers, "Set-Cookie": renewed } };
    } catch (error) {
      if (!(error instanceof AppError) || error.code === "store_unavailable") throw error;
      return refuse(context, error);
    }
  };
}

/** The request that a proxy asks about. */
interface OriginalRequest {
  /** Null if no trusted proxy names it. */
  url: string | null;
  method: string;
}

/**
 * Reads the original request from the headers of a trusted proxy: `X-Original-URL` and `X-Original-Method` (nginx), or
 * `X-Forwarded-Proto`, `-Host`, `-Uri` and `-Method` (Caddy, Traefik, HAProxy). Others could choose where a login leads
 * to.
 */
export function originalRequest(request: IncomingMessage, trustedProxies: BlockList | undefined): OriginalRequest {
  const { headers, method = "GET", socket } = request;
  if (!isTrusted(peerAddress(socket), trustedProxies)) return { url: null, method };
  const originalMethod = believed(headers, "x-original-method") ?? believed(headers, "x-forwarded-method") ?? method;
  return { url: originalUrl(headers), method: originalMethod.toUpperCase() };
}

function originalUrl(headers: IncomingHttpHeaders): string | null {
  const whole = believed(headers, "x-original-url");
  if (whole !== undefined) return whole;
  const { scheme, host } = forwardedOrigin(headers);
  if (scheme === undefined || host === undefined) return null;
  return `${scheme}://${host}${believed(headers, "x-forwarded-uri") ?? "/"}`;
}
