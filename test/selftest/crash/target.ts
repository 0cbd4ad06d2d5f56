import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { eventOf } from "./event.ts";
import { createOrderWatch } from "./order.ts";
import type { Ledger, RouteName } from "./verdict.ts";

// A target that takes its time has requests under way when the server is killed, and sees requests that overlap.
const MAX_ANSWER_MS = 3;

/** The HTTP server in this process that both routes post to. */
interface Target {
  /** The URL of a route. It names the server process that posts to it, counted from 1. */
  url(route: RouteName, server: number): string;
  close(): Promise<void>;
}

/** Starts the target on a free port. It adds what it gets to the ledger. */
export async function startTarget(ledger: Ledger): Promise<Target> {
  const order = createOrderWatch();

  function free(id: string, response: ServerResponse): void {
    ledger.delivered.free.add(id);
    response.writeHead(204).end();
  }

  function ordered(id: string, server: number, response: ServerResponse): void {
    const event = eventOf(id);
    if (event === null) return void response.writeHead(404).end();
    const fault = order.begin(event, server);
    if (fault !== null) ledger.outOfOrder.push(fault);
    const timer = setTimeout(() => {
      order.end(event, server, true);
      ledger.delivered.ordered.add(id);
      response.writeHead(204).end();
    }, Math.random() * MAX_ANSWER_MS);
    response.on("close", () => {
      clearTimeout(timer);
      order.end(event, server, false);
    });
  }

  function onRequest(request: IncomingMessage, response: ServerResponse): void {
    const [, route, server] = request.url?.split("/") ?? [];
    const id = String(request.headers["x-event-id"]);
    request.on("error", () => {});
    request.resume().on("end", () => {
      if (route === "free") free(id, response);
      else ordered(id, Number(server), response);
    });
  }

  const listener = createServer(onRequest);
  // A connection that this side closes might make the server send a request again.
  listener.keepAliveTimeout = 0;
  await new Promise<void>((resolve, reject) => listener.once("error", reject).listen(0, "127.0.0.1", resolve));
  const { port } = listener.address() as AddressInfo;
  return {
    url: (route, server) => `http://127.0.0.1:${port}/${route}/${server}`,
    close: () =>
      new Promise((resolve) => {
        listener.close(() => resolve());
        listener.closeAllConnections();
      }),
  };
}
