import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Received {
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** Milliseconds of `performance.now()`. */
  at: number;
}

export interface ForwardTarget {
  url: string;
  received: Received[];
  /** What it received for one event. */
  of(eventId: string): Received[];
  /** Decides every answer from now on. */
  answer(respond: (request: Received, response: ServerResponse) => void): void;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Starts a server of somebody else's that events are forwarded to. It answers 204 until told otherwise. */
export async function startTarget(): Promise<ForwardTarget> {
  const received: Received[] = [];
  let respond = (_request: Received, response: ServerResponse) => void response.writeHead(204).end();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("error", () => {});
    request.on("end", () => {
      const one = { headers: request.headers, body: Buffer.concat(chunks), at: performance.now() };
      received.push(one);
      respond(one, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`,
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
