import type { IncomingMessage } from "node:http";
import { AppError } from "../errors.ts";
import { headerValues } from "../lib/header-value.ts";

/** Sent with every response over TLS: one year. */
const HSTS = "max-age=31536000";

/** The headers of every response, in a new object that the caller may add to. */
export function commonHeaders(requestId: string, isTls: boolean): Record<string, string> {
  const headers: Record<string, string> = {
    "X-Request-ID": requestId,
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
  };
  if (isTls) headers["Strict-Transport-Security"] = HSTS;
  return headers;
}

// A header takes ten times its length in memory. Webhook senders and proxies use about 40 headers.
const MAX_HEADER_FIELDS = 100;
/** Of the path and all headers but cookies. */
const MAX_HEADER_LENGTH = 16 * 1024;

/** Refuses a request that this server and a proxy may interpret differently. */
export function refuseAmbiguous(request: IncomingMessage): void {
  const headers = { Connection: "close" };
  if (request.rawHeaders.length > 2 * MAX_HEADER_FIELDS || lengthWithoutCookies(request) > MAX_HEADER_LENGTH)
    throw new AppError("headers_too_large", { headers });
  const { httpVersion } = request;
  if (
    !httpVersion.startsWith("1.") ||
    !hasUsableTarget(request) ||
    !hasUsableHost(request) ||
    !hasUsableCoding(request)
  )
    throw new AppError("bad_request", { headers });
}

function lengthWithoutCookies({ url = "", rawHeaders, headers }: IncomingMessage): number {
  const length = rawHeaders.reduce((sum, part) => sum + part.length, url.length);
  return length - (headers.cookie?.length ?? 0);
}

// `uri-host [ ":" port ]` (RFC 9110, 7.2), which may be empty.
const HOST = /^(?:[A-Za-z0-9._~%!$&'()*+,;=-]*|\[[0-9A-Fa-f:.]+\])(?::[0-9]{0,5})?$/;

/** Whether an absolute request target names a host. User info could disguise it (RFC 9110, 4.2.4). */
function hasUsableTarget({ url = "" }: IncomingMessage): boolean {
  const [, authority] = /^https?:\/\/([^/?#]*)/i.exec(url) ?? [];
  return authority === undefined || (authority !== "" && HOST.test(authority));
}

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

/** Whether a browser opens a page with this request, so that it can show a login page instead of the response. */
export function isNavigation({ headers }: IncomingMessage): boolean {
  const { accept = "", "sec-fetch-mode": mode } = headers;
  if (headers["x-requested-with"]?.toString().toLowerCase() === "xmlhttprequest") return false;
  return accept.toLowerCase().includes("text/html") && (mode === undefined || mode === "navigate");
}
