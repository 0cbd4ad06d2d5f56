import type { IncomingMessage } from "node:http";
import type { BlockList } from "node:net";
import type { TLSSocket } from "node:tls";
import { isTrusted, peerAddress, removedPrefix } from "./client-address.ts";

/**
 * Returns scheme and host as the client wrote them, e.g. `https://hooks.example.com`. Behind a trusted proxy they are in
 * `X-Forwarded-Proto` and `X-Forwarded-Host`.
 */
export function sentOrigin(request: IncomingMessage, trustedProxies: BlockList | undefined): string {
  const { socket, headers } = request;
  const isForwarded = isTrusted(peerAddress(socket), trustedProxies);
  const scheme = (socket as TLSSocket).encrypted === true ? "https" : "http";
  const forwarded = (name: string) => (isForwarded ? firstOf(headers[name]) : undefined);
  return `${forwarded("x-forwarded-proto") ?? scheme}://${forwarded("x-forwarded-host") ?? headers.host ?? ""}`;
}

/** Returns the request target as the client sent it, with the part of the path that a trusted proxy has removed. */
export function sentTarget(request: IncomingMessage, trustedProxies: BlockList | undefined): string {
  return removedPrefix(request, trustedProxies) + (request.url ?? "");
}

/** The first value of a header that each proxy may add to: the one that the client's proxy wrote. */
function firstOf(value: string | string[] | undefined): string | undefined {
  return typeof value === "string" ? value.split(",")[0]?.trim() : undefined;
}
