import type { Server } from "node:http";
import type { Socket } from "node:net";
import { connectionsOf, newestAnswer } from "./connections.ts";

/** How long nothing may come or go on a connection. */
export interface IdleLimits {
  /** While there is nothing to answer. */
  idleMs: number;
  /** While there is. */
  stalledMs: number;
}

// Longer than the idle time of common proxies (60 s), so that it is they who close.
const KEEP_ALIVE_SECONDS = 65;

export const IDLE_LIMITS: IdleLimits = { idleMs: KEEP_ALIVE_SECONDS * 1000, stalledMs: 120_000 };

/** What a `Keep-Alive` header promises to the client. */
export const KEEP_ALIVE = `timeout=${KEEP_ALIVE_SECONDS}`;

// Every 5 s with the limits above.
const LOOKS_PER_LIMIT = 13;

/**
 * Ends the connections of a server on which nothing comes or goes, at the limits or a little later. Node would do it with a
 * timer for each, which is set twice and put off three times for each request: a thirtieth of a delivery's time.
 */
export function endIdleConnections(server: Server, { idleMs, stalledMs }: IdleLimits): void {
  const seen = new WeakMap<Socket, { bytes: number; since: number }>();

  function look(): void {
    const now = performance.now();
    for (const socket of connectionsOf(server)) {
      const bytes = socket.bytesRead + socket.bytesWritten - socket.writableLength;
      const last = seen.get(socket);
      if (last?.bytes !== bytes) seen.set(socket, { bytes, since: now });
      else if (now - last.since >= (newestAnswer(socket) ? stalledMs : idleMs)) socket.destroy();
    }
  }

  const looks = setInterval(look, idleMs / LOOKS_PER_LIMIT).unref();
  server.on("close", () => clearInterval(looks));
}
