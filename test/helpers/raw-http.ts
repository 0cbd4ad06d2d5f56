import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { checkAnswer } from "./check-answer.ts";
import { event } from "./client.ts";
import { EMAIL } from "./credentials.ts";
import { signature } from "./sign.ts";
import { HANG_MS } from "./until.ts";

interface RawAnswer {
  status: number;
  /** Names in lower case. Of repeated headers, the last value. */
  headers: Record<string, string>;
  /** Everything after the headers of the first response. */
  body: string;
  /** Everything that was received. */
  text: string;
}

/** Sends raw bytes and reads until the server closes. Throws if it never does. */
export function sendRaw(port: number, bytes: string | Buffer): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const received: Buffer[] = [];
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes));
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new Error(`the connection was still open after ${HANG_MS} ms; received: ${textOf(received)}`));
    }, HANG_MS);
    socket.on("data", (chunk: Buffer) => received.push(chunk));
    socket.on("error", () => {});
    socket.on("close", () => {
      clearTimeout(timer);
      resolve(parse(textOf(received)));
    });
  });
}

interface RawRequest {
  method?: string;
  target?: string;
  host?: string;
  /** Raw header lines, besides Host and `Connection: close`. */
  lines?: readonly string[];
  body?: string | Buffer;
}

/** Sends a request with an unchanged target and header lines, and checks the response with the server's description. */
export async function request(
  port: number,
  { method = "GET", target = "/auth/me", host = "localhost", lines = [], body = "" }: RawRequest,
): Promise<RawAnswer> {
  const head = [`${method} ${target} HTTP/1.1`, `Host: ${host}`, "Connection: close", ...lines];
  const bytes = Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`, "latin1"), Buffer.from(body)]);
  const answer = await sendRaw(port, bytes);
  const { status, headers, body: text } = answer;
  const contentType = headers["content-type"] ?? "";
  await checkAnswer(`http://127.0.0.1:${port}`, { method, target, status, contentType, text });
  return answer;
}

/** The statuses of all responses in the received text. */
export function statusesIn(text: string): number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));
}

function textOf(received: Buffer[]): string {
  return Buffer.concat(received).toString("utf8");
}

function parse(text: string): RawAnswer {
  const end = text.indexOf("\r\n\r\n");
  const [statusLine = "", ...lines] = text.slice(0, end === -1 ? 0 : end).split("\r\n");
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(":");
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  return { status: Number(statusLine.split(" ")[1] ?? 0), headers, body: text.slice(end + 4), text };
}

export const JSON_TYPE = "Content-Type: application/json";

/** A signed delivery of an event, with further header lines. */
export function rawDelivery(id: string, ...lines: string[]): { head: string; body: string } {
  const body = JSON.stringify(event(id));
  const head = [
    "POST /webhook HTTP/1.1",
    "Host: localhost",
    JSON_TYPE,
    `X-Signature: ${signature(body)}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...lines,
  ];
  return { head: `${head.join("\r\n")}\r\n\r\n`, body };
}

/** The same as one text. */
export function wholeDelivery(id: string): string {
  const { head, body } = rawDelivery(id);
  return head + body;
}

/** A connection that ignores errors. `from` is a loopback address. */
export async function openRaw(port: number, from = "127.0.0.1"): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1", localAddress: from });
  socket.on("error", () => {});
  await once(socket, "connect");
  return socket;
}

/** Collects the received data. */
export function gather(socket: Socket): () => string {
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk;
  });
  return () => text;
}

/** A login. Its password is wrong unless the right one is given. */
export function rawLogin(password = "wrong password"): string {
  const credentials = JSON.stringify({ email: EMAIL, password });
  const login = `POST /auth/login HTTP/1.1\r\nHost: localhost\r\n${JSON_TYPE}\r\nContent-Length: ${credentials.length}\r\n\r\n`;
  return login + credentials;
}

export const HEALTH = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
