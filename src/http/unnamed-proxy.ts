import type { IncomingMessage } from "node:http";
import { BlockList } from "node:net";
import type { Fault } from "../errors.ts";
import { isIn } from "../lib/address-range.ts";
import { isTrusted, NOBODY, peerAddress } from "./client-address.ts";

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
    if (peer === NOBODY || !isIn(LOCAL, peer) || isTrusted(peer, trustedProxies)) return;
    isFound = true;
    onFound(peer);
  };
}
