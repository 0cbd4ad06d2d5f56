import type { IncomingMessage } from "node:http";
import { type BlockList, isIP } from "node:net";
import { hostname } from "node:os";
import { AppError } from "../errors.ts";
import type { Audience, RequestContext, RequestHandler } from "./endpoint.ts";
import { isNavigation } from "./headers.ts";
import { bareHost, isLoopback } from "./listen.ts";
import { believed, firstOf, isTrusted, peerAddress } from "./proxies.ts";

/** What decides under which names the server answers. */
export interface HostRules {
  /** The address that it listens on; undefined means all. */
  listeningHost: string | undefined;
  publicUrl: string | undefined;
  /** Further names, in lower case. */
  allowedHosts: readonly string[];
  trustedProxies: BlockList | undefined;
}

/** Whether a request asks for a name that is known. */
export type IsToKnownHost = (request: IncomingMessage) => boolean;

/** Creates the test of the name that a request asks for. */
export function knownHosts({ listeningHost, publicUrl, allowedHosts, trustedProxies }: HostRules): IsToKnownHost {
  const isLocal = isLoopback(listeningHost ?? "");
  const own = publicUrl === undefined ? [] : [new URL(publicUrl).hostname];
  const machine = [hostname(), listeningHost ?? ""].map((name) => name.toLowerCase()).filter((name) => name !== "");
  const names = new Set([...own, ...allowedHosts, ...machine, "localhost"]);

  /** Nobody can make an IP address lead elsewhere. Names without a dot are those of a network of containers. */
  function isKnown(name: string): boolean {
    if (names.has(name) || name.endsWith(".localhost") || isIP(bareHost(name)) !== 0) return true;
    return !isLocal && name !== "" && !name.includes(".");
  }

  return (request) => {
    const peer = peerAddress(request.socket);
    // HTTP/1.0 may have no Host. No browser speaks it.
    const host = requestedHost(request, isTrusted(peer, trustedProxies) && !isLoopback(peer));
    return host === undefined || isKnown(nameOf(host));
  };
}

/**
 * Creates the check of `Host`. It makes a handler throw `unknown_host` for a request to a name that is not known. With
 * DNS rebinding, the name of a page is made to lead to this machine. For the browser it is then of the same origin as
 * this service, and only `Host` tells.
 */
export function createHostCheck(rules: HostRules): (audience: Audience, handler: RequestHandler) => RequestHandler {
  const { listeningHost, publicUrl, allowedHosts, trustedProxies } = rules;
  const isLocal = isLoopback(listeningHost ?? "");
  const isNamed = publicUrl !== undefined || allowedHosts.length > 0;
  const isToKnownHost = knownHosts(rules);

  /** Whether a request may have any `Host`. */
  function isExempt(audience: Audience, { request, address }: RequestContext, isOfProxy: boolean): boolean {
    switch (audience) {
      case "senders":
        return true;
      // No cookie comes to another name, so that a page learns nothing.
      case "proxies":
        return isOfProxy;
      // A browser on this machine has one of its addresses. The others are listed.
      case "monitoring":
        return !isLoopback(address);
      // They are sent to the right address. The page has nothing that a stranger does not see there.
      case "visitors":
        return publicUrl !== undefined && isNavigation(request);
      case "anybody":
        return !isNamed && (!isLocal || isOfProxy);
    }
  }

  return (audience, handler) => (context) => {
    const { request } = context;
    const isOfProxy = isTrusted(peerAddress(request.socket), trustedProxies);
    if (!isToKnownHost(request) && !isExempt(audience, context, isOfProxy)) throw new AppError("unknown_host");
    return handler(context);
  };
}

/**
 * The host that the client asked for. A proxy on this machine is not asked for it: a page in a browser there could say
 * the same.
 */
function requestedHost({ headers }: IncomingMessage, isSaidByProxy: boolean): string | undefined {
  return (isSaidByProxy ? firstOf(believed(headers, "x-forwarded-host")) : undefined) ?? headers.host;
}

/** The name in a `Host`, without the port and a final dot. */
function nameOf(host: string): string {
  return host
    .toLowerCase()
    .replace(/:[0-9]*$/, "")
    .replace(/\.$/, "");
}
