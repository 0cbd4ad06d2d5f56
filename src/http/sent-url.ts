import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { BlockList } from "node:net";
import type { TLSSocket } from "node:tls";
import { trimSpace } from "../lib/http-space.ts";
import { believed } from "./believed-headers.ts";
import { isTrusted, peerAddress, removedPrefix } from "./client-address.ts";

/**
 * Returns scheme and host under which the client reached the server, e.g. `https://hooks.example.com`: what a trusted
 * proxy has put into `X-Forwarded-Host`; else the public origin, if it is configured; else `Host`, which the client
 * writes as it likes. The scheme is that of `X-Forwarded-Proto` or of the connection.
 */
export function sentOrigin(
  { socket, headers }: IncomingMessage,
  trustedProxies: BlockList | undefined,
  publicOrigin?: string,
): string {
  const isForwarded = isTrusted(peerAddress(socket), trustedProxies);
  return originIn(headers, { isForwarded, isEncrypted: (socket as TLSSocket).encrypted === true, publicOrigin });
}

/** How a request came. */
interface Arrival {
  /** By a trusted proxy. */
  isForwarded: boolean;
  isEncrypted: boolean;
  publicOrigin: string | undefined;
}

/** The origin of a request with these headers, see {@link sentOrigin}. */
function originIn(headers: IncomingHttpHeaders, { isForwarded, isEncrypted, publicOrigin }: Arrival): string {
  const { scheme, host } = isForwarded ? forwardedOrigin(headers) : {};
  if (host === undefined && publicOrigin !== undefined) return publicOrigin;
  return `${scheme ?? (isEncrypted ? "https" : "http")}://${host ?? headers.host ?? ""}`;
}

// A proxy may pass on what the client wrote.
const HOST = /^[A-Za-z0-9._:[\]-]+$/;
const SCHEME = /^https?$/i;

const matching = (form: RegExp, text: string | undefined) => (text && form.test(text) ? text : undefined);

/** What a trusted proxy says of scheme and host. A value that has not their form counts as missing. */
export function forwardedOrigin(headers: IncomingHttpHeaders): {
  scheme?: string | undefined;
  host?: string | undefined;
} {
  return {
    scheme: matching(SCHEME, firstOf(believed(headers, "x-forwarded-proto")))?.toLowerCase(),
    host: matching(HOST, firstOf(believed(headers, "x-forwarded-host"))),
  };
}

/** Returns the request target as the client sent it, with the part of the path that a trusted proxy has removed. */
export function sentTarget(request: IncomingMessage, trustedProxies: BlockList | undefined): string {
  return removedPrefix(request, trustedProxies) + (request.url ?? "");
}

/** The first value of a header that each proxy may add to: the one that the client's proxy wrote. */
export function firstOf(value: string | undefined): string | undefined {
  return value === undefined ? undefined : trimSpace(value.split(",", 1)[0] ?? "");
}
