import { readFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Pair } from "./tls.ts";

export interface Received {
  method: string;
  /** The target of the request: its path and query. */
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** Milliseconds of `performance.now()`. */
  at: number;
}

export interface ForwardTarget {
  url: string;
  received: Received[];
  /** The requests for one event. */
  of(eventId: string): Received[];
  /** Sets the handler of all further requests. */
  answer(respond: (request: Received, response: ServerResponse) => unknown): void;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Starts a server that events are forwarded to, over TLS if it has a pair. It answers 204 until `answer` is called. */
export async function startTarget(pair?: Pair): Promise<ForwardTarget> {
  const received: Received[] = [];
  let respond = (_request: Received, response: ServerResponse) => {
    // Providers' packages that tests load may replace `writeHead` by one that returns nothing.
    response.writeHead(204);
    response.end();
  };
  const listener: RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("error", () => {});
    request.on("end", () => {
      const one = {
        method: request.method ?? "",
        path: request.url ?? "",
        headers: request.headers,
        body: Buffer.concat(chunks),
        at: performance.now(),
      };
      received.push(one);
      respond(one, response);
    });
  };
  const server = pair
    ? createTlsServer({ cert: readFileSync(pair.cert), key: readFileSync(pair.key) }, listener)
    : createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `${pair ? "https" : "http"}://127.0.0.1:${(server.address() as AddressInfo).port}/events`,
    received,
    of: (eventId) => received.filter(({ headers }) => headers["x-event-id"] === eventId),
    answer(next) {
      respond = (request, response) => void next(request, response);
    },
    [Symbol.asyncDispose]() {
      return new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}
