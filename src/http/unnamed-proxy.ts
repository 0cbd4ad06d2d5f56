import type { IncomingMessage } from "node:http";
import { BlockList } from "node:net";
import type { Fault } from "../errors.ts";
import { isIn, isTrusted, peerAddress } from "./client-address.ts";

/** What an unnamed proxy does, and what to set. */
export function faultOfUnnamedProxy(address: string): Fault {
  return {
    found: `a proxy at ${address} passes on the addresses of clients, and TRUSTED_PROXIES does not name it: all of them count as one, also for failed logins`,
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
 * Looks at each request, and tells once of a proxy that passes clients' addresses on and is not trusted: all who come through
 * it then count as one client. Only of one on this machine or its network, for anybody else may write such headers, too.
 */
export function watchForUnnamedProxy(
  trustedProxies: BlockList | undefined,
  onFound: (address: string) => void,
): (request: IncomingMessage) => void {
  let isFound = false;
  return ({ socket, headers }) => {
    if (isFound || !CLIENT_HEADERS.some((name) => headers[name] !== undefined)) return;
    const peer = peerAddress(socket);
    if (peer === "unknown" || !isIn(LOCAL, peer) || isTrusted(peer, trustedProxies)) return;
    isFound = true;
    onFound(peer);
  };
}
