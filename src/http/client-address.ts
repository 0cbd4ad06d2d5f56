import type { IncomingMessage } from "node:http";
import { type BlockList, isIP, type Socket, SocketAddress } from "node:net";
import { AppError } from "../errors.ts";
import { isIn } from "../lib/address-range.ts";
import { trimSpace } from "../lib/http-space.ts";
import { believed } from "./believed-headers.ts";

/**
 * Returns the canonical form of an address: IPv4-mapped IPv6 as IPv4, IPv6 as in RFC 5952, without a zone. Returns null
 * for any other text.
 */
export function canonicalAddress(text: string): string | null {
  const [bare = ""] = text.split("%");
  const family = isIP(bare);
  if (family === 4) return bare;
  if (family !== 6) return null;
  const mapped = /^::ffff:(?:([0-9.]+)|([0-9a-f]{1,4}):([0-9a-f]{1,4}))$/i.exec(
    new SocketAddress({ address: bare, family: "ipv6" }).address,
  );
  if (!mapped) return new SocketAddress({ address: bare, family: "ipv6" }).address;
  if (mapped[1]) return mapped[1];
  const high = Number.parseInt(mapped[2] ?? "0", 16);
  const low = Number.parseInt(mapped[3] ?? "0", 16);
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}

/** The address of an `X-Forwarded-For` entry. Some proxies add a port, and put IPv6 addresses in brackets. */
function hopAddress(hop: string): string | null {
  const match = /^(?:\[([^\]]+)\]|([0-9.]+))(?::[0-9]{1,5})?$/.exec(hop);
  return canonicalAddress(match?.[1] ?? match?.[2] ?? hop);
}

/**
 * The address of a client that nobody can name. It is in no list of addresses, so that it may do nothing that needs
 * one.
 */
export const NOBODY = "unknown";

const peers = new WeakMap<Socket, string>();

/** The canonical address of the peer. It is cached because a connection carries many requests. */
export function peerAddress(socket: Socket): string {
  const known = peers.get(socket);
  if (known !== undefined) return known;
  const peer = canonicalAddress(socket.remoteAddress ?? "") ?? NOBODY;
  peers.set(socket, peer);
  return peer;
}

export function isTrusted(peer: string, trustedProxies: BlockList | undefined): trustedProxies is BlockList {
  return trustedProxies !== undefined && peer !== NOBODY && isIn(trustedProxies, peer);
}

const FORWARDING_HEADER =
  /^(?:x-forwarded(?:-.*)?|forwarded|via|x-real-ip|x-client-ip|x-cluster-client-ip|true-client-ip|.*-connecting-ip|x-envoy-external-address)$/;

/**
 * Whether the request came through a proxy that does not identify its client: the proxy is not trusted, or it sent no
 * `X-Forwarded-For`.
 */
export function isFromUnknownClient(request: IncomingMessage, trustedProxies: BlockList | undefined): boolean {
  const { socket, headers } = request;
  if (isTrusted(peerAddress(socket), trustedProxies) && believed(headers, "x-forwarded-for") !== undefined)
    return false;
  return Object.keys(headers).some((name) => FORWARDING_HEADER.test(name));
}

/**
 * The client's address: the peer, or behind trusted proxies the right-most `X-Forwarded-For` entry that is not a
 * trusted proxy. An entry there that is not an address names {@link NOBODY}.
 */
export function clientAddress(request: IncomingMessage, trustedProxies: BlockList | undefined): string {
  const peer = peerAddress(request.socket);
  if (!isTrusted(peer, trustedProxies)) return peer;
  const hops = request.headersDistinct["x-forwarded-for"];
  if (hops === undefined) return peer;
  let address = peer;
  for (const hop of hops.join(",").split(",").reverse()) {
    const candidate = hopAddress(trimSpace(hop));
    if (candidate === null) return NOBODY;
    address = candidate;
    if (!isIn(trustedProxies, address)) return address;
  }
  return address;
}

/** Who may use a route. */
export interface ClientAccess {
  allowedAddresses: BlockList;
  /** Requests through other proxies are refused: their client is unknown. */
  trustedProxies: BlockList | undefined;
}

/** Throws `not_found` unless a request comes from an allowed address, so that others do not learn of the route. */
export function requireAllowedClient(
  request: IncomingMessage,
  address: string,
  { allowedAddresses, trustedProxies }: ClientAccess,
): void {
  if (!isIn(allowedAddresses, address) || isFromUnknownClient(request, trustedProxies)) throw new AppError("not_found");
}

/** The part of the path that a trusted proxy has removed, from `X-Forwarded-Prefix`; empty if there is none. */
export function removedPrefix({ socket, headers }: IncomingMessage, trustedProxies: BlockList | undefined): string {
  const prefix = believed(headers, "x-forwarded-prefix");
  if (prefix === undefined || !isTrusted(peerAddress(socket), trustedProxies)) return "";
  return /^(?:\/[A-Za-z0-9._~-]+)+\/?$/.test(prefix) ? prefix.replace(/\/$/, "") : "";
}
