import { idOf, type TestEvent } from "./event.ts";

/** The request that a target got last for a sender. */
interface Latest {
  event: TestEvent;
  /** The server process that sent it, counted from 1. */
  server: number;
  isRunning: boolean;
  /** The target has answered with success. The server may have been killed before it read that. */
  isAnswered: boolean;
}

/** Watches the requests of a route that keeps the order of each sender. */
export interface OrderWatch {
  /** Notes that a request has come. Returns how it breaks the order, or null. */
  begin(event: TestEvent, server: number): string | null;
  /** Notes that the target has answered a request with success, or that its connection ended before. */
  end(event: TestEvent, server: number, isAnswered: boolean): void;
}

/** Creates a watch that has seen nothing. */
export function createOrderWatch(): OrderWatch {
  const latest = new Map<number, Latest>();
  return {
    begin(event, server) {
      const before = latest.get(event.sender);
      // The system may deliver a request of a killed server after the first ones of the next server.
      if (before && server < before.server) return null;
      latest.set(event.sender, { event, server, isRunning: true, isAnswered: false });
      return before ? orderFault(before, event, server) : null;
    },
    end(event, server, isAnswered) {
      const one = latest.get(event.sender);
      if (one?.event.number !== event.number || one.server !== server) return;
      one.isRunning = false;
      one.isAnswered ||= isAnswered;
    },
  };
}

/**
 * How a request breaks the order of its sender, or null. An event is sent again only if its last attempt got no answer,
 * or another server made it: that one may have been killed before it recorded the answer.
 */
function orderFault(before: Latest, event: TestEvent, server: number): string | null {
  const [id, earlier] = [idOf(event), idOf(before.event)];
  const isSameServer = server === before.server;
  if (before.isRunning && isSameServer) return `${id} came while ${earlier} was running`;
  if (event.number < before.event.number) return `${id} came after ${earlier}`;
  if (event.number > before.event.number)
    return before.isAnswered ? null : `${id} came before ${earlier} had succeeded`;
  return isSameServer && before.isAnswered ? `${id} came again after its success` : null;
}
