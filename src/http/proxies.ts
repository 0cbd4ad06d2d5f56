import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { BlockList, isIP, type Socket, SocketAddress } from "node:net";
import type { TLSSocket } from "node:tls";
import { AppError, type Fault } from "../errors.ts";
import { isIn } from "../lib/address-range.ts";
import { trimSpace } from "../lib/header-value.ts";

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

/** Who may use an endpoint. */
export interface ClientAccess {
  allowedAddresses: BlockList;
  /** Requests through other proxies are refused: their client is unknown. */
  trustedProxies: BlockList | undefined;
}

/** Throws `not_found` unless a request comes from an allowed address, so that others do not learn of the endpoint. */
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

/**
 * The headers in which a trusted proxy says what it received. Each file in `deploy/` sets or removes every one of them:
 * otherwise a client could choose it.
 */
export const BELIEVED_HEADERS = [
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-method",
  "x-forwarded-prefix",
  "x-forwarded-proto",
  "x-forwarded-uri",
  "x-original-method",
  "x-original-url",
] as const;

/** The value of one of these headers. Only those of a trusted proxy may be used. */
export function believed(headers: IncomingHttpHeaders, name: (typeof BELIEVED_HEADERS)[number]): string | undefined {
  const value = headers[name];
  return typeof value === "string" ? value : undefined;
}

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
export const HOST = /^[A-Za-z0-9._:[\]-]+$/;
const SCHEME = /^(?:https?|wss?)$/i;

const matching = (form: RegExp, text: string | undefined) => (text && form.test(text) ? text : undefined);

/** What a trusted proxy says of scheme and host. A value that has not their form counts as missing. */
export function forwardedOrigin(headers: IncomingHttpHeaders): {
  scheme?: string | undefined;
  host?: string | undefined;
} {
  const scheme = matching(SCHEME, firstOf(believed(headers, "x-forwarded-proto")))?.toLowerCase();
  return {
    // Traefik writes `wss` for the handshake of a websocket, which is a request of HTTP.
    scheme: scheme?.replace(/^ws/, "http"),
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

/** Explains to the operator what a proxy missing from `TRUSTED_PROXIES` causes. */
export function faultOfUnnamedProxy(address: string): Fault {
  return {
    found: `the proxy at ${address} is not in TRUSTED_PROXIES: all of its clients count as one, also for failed logins`,
    remedy: `set TRUSTED_PROXIES=${address}, and let the proxy set X-Forwarded-For`,
  };
}

const CLIENT_HEADERS = ["x-forwarded-for", "forwarded", "x-real-ip"];

const LOCAL = new BlockList();
LOCAL.addSubnet("127.0.0.0", 8);
LOCAL.addSubnet("10.0.0.0", 8);
LOCAL.addSubnet("172.16.0.0", 12);
LOCAL.addSubnet("192.168.0.0", 16);
LOCAL.addAddress("::1", "ipv6");
LOCAL.addSubnet("fc00::", 7, "ipv6");
LOCAL.addSubnet("fe80::", 10, "ipv6");

/** Whether an address is one of a local network, or of this machine. */
export const isLocalAddress = (address: string) => isIn(LOCAL, address);

/**
 * Returns a function to call for each request. It reports, once, a proxy that forwards clients' addresses but is not
 * trusted: all of its clients count as one. Only local addresses are reported, because any remote client may send such
 * headers.
 */
export function watchForUnnamedProxy(
  trustedProxies: BlockList | undefined,
  onFound: (address: string) => void,
): (request: IncomingMessage) => void {
  let isFound = false;
  return ({ socket, headers }) => {
    if (isFound || !CLIENT_HEADERS.some((name) => headers[name] !== undefined)) return;
    const peer = peerAddress(socket);
    if (peer === NOBODY || !isLocalAddress(peer) || isTrusted(peer, trustedProxies)) return;
    isFound = true;
    onFound(peer);
  };
}
