import { createServer, type IncomingMessage } from "node:http";
import { type Duplex, duplexPair } from "node:stream";

type HeaderPairs = readonly (readonly [name: string, value: string])[];

interface Sent {
  method?: string;
  remoteAddress?: string;
  /** A string is encoded as Latin-1, like the rest of an HTTP message. */
  body?: string | Uint8Array;
}

/** A connection in memory to Node's HTTP parser, which turns the client's bytes into a request. */
export function openRequest(
  headers: HeaderPairs,
  sent: Sent = {},
): { client: Duplex; request: Promise<IncomingMessage> } {
  const [client, serverSide] = duplexPair();
  if (sent.remoteAddress !== undefined)
    Object.defineProperty(serverSide, "remoteAddress", { value: sent.remoteAddress });
  const request = new Promise<IncomingMessage>((resolve, reject) => {
    const server = createServer(resolve);
    server.on("clientError", reject);
    server.emit("connection", serverSide);
  });
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  client.on("error", () => {}).on("close", () => serverSide.destroy());
  client.write(Buffer.from(`${sent.method ?? "POST"} / HTTP/1.1\r\nHost: localhost\r\n${lines}\r\n`, "latin1"));
  if (sent.body !== undefined)
    client.write(typeof sent.body === "string" ? Buffer.from(sent.body, "latin1") : sent.body);
  return { client, request };
}

/** A request with these headers, in the order given, as Node's parser hands it to a handler. */
export function requestWith(headers: HeaderPairs, sent: Sent = {}): Promise<IncomingMessage> {
  return openRequest(headers, sent).request;
}

/** A request with a body of announced length. */
export function requestWithBody(body: string | Uint8Array, headers: HeaderPairs = []): Promise<IncomingMessage> {
  const bytes = typeof body === "string" ? Buffer.from(body, "utf8") : body;
  const length = ["Content-Length", String(bytes.length)] as const;
  return requestWith([...headers, length], { body: bytes });
}
