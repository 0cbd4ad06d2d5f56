import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { buffer } from "node:stream/consumers";

/** A request as an app received it. */
export interface Echo {
  method: string;
  /** Path and query. */
  url: string;
  /** Names as they came, and values. */
  headers: [string, string][];
  bodyBytes: number;
  bodySha256: string;
}

export interface EchoApp {
  port: number;
  /** All requests so far, upgrades included. */
  received: Echo[];
  [Symbol.asyncDispose](): Promise<void>;
}

export const sha256 = (bytes: string | Buffer) => createHash("sha256").update(bytes).digest("hex");

function pairs(values: readonly string[]): [string, string][] {
  return values.flatMap((name, index) => (index % 2 === 0 ? [[name, String(values[index + 1])]] : [])) as [
    string,
    string,
  ][];
}

/** The value of `Sec-WebSocket-Accept` (RFC 6455, 4.2.2). */
export function webSocketAccept(key: string): string {
  return createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
}

const MAX_HEADER_BYTES = 64 * 1024;

/**
 * Starts an app that answers with the request as JSON, and a cookie of its own. After an upgrade it sends back every
 * byte.
 */
export async function startEchoApp(port = 0): Promise<EchoApp> {
  const received: Echo[] = [];
  const sockets = new Set<Socket>();
  const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES }, async (request, response) => {
    const body = await buffer(request);
    const { method = "", url = "", rawHeaders } = request;
    const echo = { method, url, headers: pairs(rawHeaders), bodyBytes: body.length, bodySha256: sha256(body) };
    received.push(echo);
    response
      .writeHead(200, { "Content-Type": "application/json", "Set-Cookie": "of-the-app=1" })
      .end(JSON.stringify(echo));
  });
  server.on("connection", (socket) => {
    sockets.add(socket.on("error", () => {}).on("close", () => sockets.delete(socket)));
  });
  server.on("upgrade", ({ method = "", url = "", rawHeaders, headers }, socket) => {
    received.push({ method, url, headers: pairs(rawHeaders), bodyBytes: 0, bodySha256: sha256("") });
    const accept = webSocketAccept(String(headers["sec-websocket-key"]));
    const lines = [`Upgrade: ${headers.upgrade}`, "Connection: Upgrade", `Sec-WebSocket-Accept: ${accept}`];
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join("\r\n")}\r\n\r\n`);
    socket.pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    received,
    [Symbol.asyncDispose]() {
      return new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      });
    },
  };
}
