import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { BlockList } from "node:net";
import { believed } from "../../http/believed-headers.ts";
import { isTrusted, peerAddress } from "../../http/client-address.ts";
import { forwardedOrigin } from "../../http/sent-url.ts";

/** The request that a proxy asks about. */
export interface OriginalRequest {
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
