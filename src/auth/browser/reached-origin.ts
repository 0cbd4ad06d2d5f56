import type { IncomingMessage } from "node:http";
import type { BlockList } from "node:net";
import { isFromUnknownClient, isTrusted, peerAddress, sentOrigin } from "../../http/proxies.ts";
import { isWithin, type RedirectRules } from "./redirect-target.ts";

/** Whether a browser that reaches this service under an origin keeps its cookie, so that a login there would last. */
export function keepsCookie(origin: string, { origin: own, cookieDomain }: RedirectRules): boolean {
  const { protocol, hostname } = new URL(own);
  if (protocol === "http:") return true;
  const reached = URL.parse(origin);
  if (reached === null || reached.protocol !== "https:") return false;
  return reached.hostname === hostname || isWithin(reached.hostname, cookieDomain);
}

/**
 * The origin under which a browser has reached this service, as far as the request tells. A proxy that is not trusted
 * may have done TLS: then the scheme counts as right.
 */
export function reachedOrigin(
  request: IncomingMessage,
  trustedProxies: BlockList | undefined,
  { origin }: RedirectRules,
): string {
  const reached = sentOrigin(request, trustedProxies);
  const isOfProxy = isTrusted(peerAddress(request.socket), trustedProxies);
  return !isOfProxy && isFromUnknownClient(request, trustedProxies)
    ? reached.replace(/^http:/, new URL(origin).protocol)
    : reached;
}
