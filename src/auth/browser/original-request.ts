import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { BlockList } from "node:net";
import { believed, forwardedOrigin, HOST, isTrusted, peerAddress } from "../../http/proxies.ts";
import { UnclearQuestion } from "../access/place.ts";

/** The request that a proxy asks about. */
export interface OriginalRequest {
  /** Null if no trusted proxy names it. */
  url: string | null;
  /** Of several hosts, a proxy that adds its own leaves the first one to the client. */
  isOneHost: boolean;
  /** That of the question if no trusted proxy names it. */
  method: string;
  isMethodNamed: boolean;
}

/**
 * What of a proxy names the original request: `X-Original-*`, `X-Forwarded-*`, or the question itself, whose path has
 * that of the request at its end.
 */
export type ProxyFamily = "original" | "forwarded" | "question";

/** What a family of proxies says of the original request. */
interface Named {
  url: string | undefined;
  isOneHost: boolean;
  method: string | undefined;
}

/**
 * Reads the original request from the headers of a trusted proxy: `X-Original-URL` and `X-Original-Method` (nginx), or
 * `X-Forwarded-Proto`, `-Host`, `-Uri` and `-Method` (Caddy, Traefik, HAProxy). A proxy sets those of its family, and
 * may pass on the others as the client wrote them. So without `PROXY` only what does not differ is believed. Throws
 * {@link UnclearQuestion} if it differs.
 */
export function originalRequest(
  request: IncomingMessage,
  trustedProxies: BlockList | undefined,
  family: ProxyFamily | undefined,
): OriginalRequest {
  const { headers, method = "GET", socket } = request;
  if (family === "question" || !isTrusted(peerAddress(socket), trustedProxies))
    return { url: null, isOneHost: false, method, isMethodNamed: false };
  const { url, isOneHost, method: named } = agreed(headers, family);
  return { url: url ?? null, isOneHost, method: named ?? method, isMethodNamed: named !== undefined };
}

/**
 * Reads the original request from the question of a trusted proxy: its method, its `Host`, and what its target has
 * after the path of the endpoint. Envoy asks so. Its scheme is that of `X-Forwarded-Proto`, or `https`.
 */
export function questionedRequest(
  { headers, method = "GET", socket, url: target = "" }: IncomingMessage,
  trustedProxies: BlockList | undefined,
  endpointPath: string,
): OriginalRequest {
  if (!isTrusted(peerAddress(socket), trustedProxies))
    return { url: null, isOneHost: false, method, isMethodNamed: false };
  const { scheme = "https" } = forwardedOrigin(headers);
  const { host = "" } = headers;
  if (!HOST.test(host)) return { url: null, isOneHost: false, method, isMethodNamed: true };
  const rest = target.slice(target.indexOf(endpointPath) + endpointPath.length);
  return { url: `${scheme}://${host}${rest}`, isOneHost: true, method, isMethodNamed: true };
}

function agreed(headers: IncomingHttpHeaders, family: Exclude<ProxyFamily, "question"> | undefined): Named {
  const methodIn = (name: "x-original-method" | "x-forwarded-method") => believed(headers, name)?.toUpperCase();
  const original = { url: believed(headers, "x-original-url"), isOneHost: true, method: methodIn("x-original-method") };
  const isOneHost = believed(headers, "x-forwarded-host")?.includes(",") !== true;
  const forwarded = { url: forwardedUrl(headers), isOneHost, method: methodIn("x-forwarded-method") };
  if (family !== undefined) return family === "original" ? original : forwarded;
  if (original.method !== undefined && forwarded.method !== undefined)
    requireEqual("Method", original.method, forwarded.method);
  if (original.url === undefined) return forwarded;
  if (believed(headers, "x-forwarded-uri") === undefined) return original;
  requireEqual("URL", normal(original.url), normal(forwarded.url ?? ""));
  // Which family the proxy sets is not known, so both must name the method.
  return { url: original.url, isOneHost, method: forwarded.method && original.method };
}

const normal = (url: string) => (URL.canParse(url) ? new URL(url).href : url);

function requireEqual(what: "URL" | "Method", original: string, forwarded: string): void {
  if (original === forwarded) return;
  const found = `sends X-Original-${what} and X-Forwarded-${what === "URL" ? "Uri" : what}, which differ`;
  throw new UnclearQuestion(found, "let the proxy remove those that it does not set, or set PROXY");
}

function forwardedUrl(headers: IncomingHttpHeaders): string | undefined {
  const { scheme, host } = forwardedOrigin(headers);
  if (scheme === undefined || host === undefined) return undefined;
  return `${scheme}://${host}${believed(headers, "x-forwarded-uri") ?? "/"}`;
}
