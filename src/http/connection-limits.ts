import type { Server } from "node:http";
import type { Socket } from "node:net";
import { createCounts } from "../lib/counts.ts";
import { networkOf } from "../lib/network.ts";
import { peerAddress } from "./proxies.ts";

/** The limit that refused a connection. */
export type ConnectionRefusal = "all" | "address";

/** How many connections a server accepts. */
export interface ConnectionLimits {
  /** In total. */
  all: number;
  /** From one IPv4 address, or one IPv6 /64. */
  perAddress: number;
  /** Whether `perAddress` does not apply to an address because many clients share it. */
  isExempt(address: string): boolean;
  /** Called for each refused connection. */
  onRefused(reason: ConnectionRefusal): void;
}

/** Closes connections beyond the limits as soon as they are opened. */
export function limitConnections(server: Server, { all, perAddress, isExempt, onRefused }: ConnectionLimits): void {
  const open = createCounts();

  server.maxConnections = all;
  server.on("drop", () => onRefused("all"));
  server.on("connection", (socket: Socket) => {
    const address = peerAddress(socket);
    if (isExempt(address)) return;
    const network = networkOf(address);
    if (open.of(network) >= perAddress) {
      socket.destroy();
      onRefused("address");
      return;
    }
    open.add(network, 1);
    socket.on("close", () => open.add(network, -1));
  });
}
