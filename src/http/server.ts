import { createServer, type RequestListener, type Server, STATUS_CODES } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { Socket } from "node:net";
import type { TlsOptions } from "node:tls";
import { AppError, type ErrorCode } from "../errors.ts";
import { trimSpace } from "../lib/header-value.ts";
import { abortBody, deferContinue } from "./body.ts";
import { type ConnectionLimits, limitConnections } from "./connection-limits.ts";
import {
  afterResponses,
  isEnding,
  latestResponse,
  pipelined,
  watchConnections,
  watchHandshakes,
} from "./connections.ts";
import { requestIdOf, validRequestId } from "./endpoint.ts";
import { commonHeaders } from "./headers.ts";
import { problem } from "./problem.ts";
import type { Refusal } from "./router.ts";
import { MIN_TLS_VERSION, type TlsFiles } from "./tls.ts";

/** How long the headers, and the whole request, may take to arrive. */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;

/** 16 KiB of headers, and 32 KiB of cookies: a browser also sends those of other apps of the domain. */
const MAX_HEADER_BYTES = 48 * 1024;

/** How long a connection may be silent, in milliseconds. */
export interface IdleLimits {
  /** Between requests. */
  keepAliveTimeout: number;
  /** During a request. */
  timeout: number;
}

// Longer than the idle timeout of common proxies (60 s), so that the proxy closes the connection.
const IDLE_LIMITS: IdleLimits = { keepAliveTimeout: 65_000, timeout: 120_000 };

export interface ServerOptions {
  /** If set, the server speaks HTTPS. */
  tls: TlsFiles | undefined;
  /** The error for requests whose method Node's parser does not know. */
  refusal: Refusal;
  idleLimits?: IdleLimits;
  /** If not set, only the process's own limits apply. */
  connectionLimits?: ConnectionLimits;
}

/**
 * Creates the HTTP or HTTPS server with its limits. Input that is not valid HTTP gets a problem as the last response.
 */
export function createHttpServer(
  listener: RequestListener,
  { tls, refusal, idleLimits = IDLE_LIMITS, connectionLimits }: ServerOptions,
): Server {
  const receive = pipelined(listener, (error, socket) => server.emit("clientError", error, socket));
  const limits = {
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: idleLimits.keepAliveTimeout,
    connectionsCheckingInterval: 1000,
    // The router refuses a missing Host itself, with a problem.
    requireHostHeader: false,
  };
  const server: Server & { httpAllowHalfOpen?: boolean } = tls
    ? watchConnections(
        watchHandshakes(createTlsServer({ ...limits, ...tls.read(), ...TLS_LIMITS }, receive)),
        "secureConnection",
      )
    : watchConnections(createServer(limits, receive), "connection");
  if (connectionLimits) limitConnections(server, connectionLimits);
  server.timeout = idleLimits.timeout;
  // A client may close its sending side and still wait for responses.
  server.httpAllowHalfOpen = true;
  server.on("secureConnection", (socket: Socket) => {
    socket.allowHalfOpen = true;
  });
  server.on("clientError", (error, socket: Socket) => answerClientError(error, socket, refusal));
  // Node hands over the connection of a CONNECT request instead of calling the listener.
  server.on("connect", (request, socket: Socket) => {
    socket.on("error", () => {});
    afterResponses(socket, () => endWith(socket, new AppError("not_found"), requestIdOf(request)));
  });
  server.on("checkContinue", (request, response) => {
    deferContinue(request, response);
    receive(request, response);
  });
  // Node would refuse an unknown expectation. A server may ignore it (RFC 9110, 10.1.1).
  server.on("checkExpectation", receive);
  return server;
}

const TLS_LIMITS: TlsOptions = {
  minVersion: MIN_TLS_VERSION,
  handshakeTimeout: HEADERS_TIMEOUT_MS,
  // Node's default is http/1.1 only, which refuses a client that asks for http/1.0.
  ALPNProtocols: ["http/1.1", "http/1.0"],
};

// Long enough for the last response to arrive, even if the client is still sending.
const LINGER_MS = 3000;

const CLIENT_ERRORS: Record<string, ErrorCode> = {
  ERR_HTTP_REQUEST_TIMEOUT: "request_timeout",
  HPE_HEADER_OVERFLOW: "headers_too_large",
};

// What is written while TLS waits for the client is never sent, so that the connection would stay open.
const UNANSWERABLE = ["ERR_TLS_HANDSHAKE_TIMEOUT", "ERR_TLS_SESSION_ATTACK"];

function answerClientError(error: ParseError, socket: Socket, refusal: Refusal): void {
  // After the last response, further input is read and discarded. Closing the connection while the client sends would
  // reset it, and the response would be lost.
  if (error.code === "HPE_CLOSED_CONNECTION" || (isEnding(socket) && error.code !== "ECONNRESET")) return;
  if (error.code === "ECONNRESET" || UNANSWERABLE.includes(error.code ?? "") || !socket.writable) {
    socket.destroy();
    return;
  }
  const unknown = refuseUnknownMethod(error, refusal);
  const refused = unknown?.refusal ?? new AppError(CLIENT_ERRORS[error.code ?? ""] ?? "bad_request");
  const latest = latestResponse(socket);
  const unfinished = latest?.req.complete === false ? latest : undefined;
  if (unfinished) abortBody(unfinished.req, refused.code);
  afterResponses(socket, () => {
    if (unfinished?.headersSent || !socket.writable) socket.destroy();
    else
      endWith(socket, refused, unfinished ? requestIdOf(unfinished.req) : (unknown?.requestId ?? crypto.randomUUID()));
  });
}

/** Writes a problem directly to the socket, as the last response on the connection. */
function endWith(socket: Socket, error: AppError, requestId: string): void {
  const { status, body, headers } = problem(error, requestId);
  const text = JSON.stringify(body);
  const head = {
    ...commonHeaders(requestId, "encrypted" in socket),
    ...headers,
    "Content-Length": Buffer.byteLength(text),
    Connection: "close",
  };
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n${text}`, () => {
    // No other limit closes the connection now if the client keeps it open.
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  });
}

/** An error of Node's HTTP parser. */
interface ParseError extends NodeJS.ErrnoException {
  rawPacket?: Buffer;
  /** How many bytes of that packet were parsed before the error. */
  bytesParsed?: number;
}

// The parser's codes for a method that it does not know, or knows from other protocols only.
const CODES = ["HPE_INVALID_METHOD", "HPE_INVALID_CONSTANT", "HPE_INVALID_VERSION"];

// The lookbehind matches a token only at its start. Without it, a long token would take quadratic time.
const TOKEN = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]";
const REQUEST_LINES = new RegExp(`(?<!${TOKEN})(${TOKEN}+) ([^\\s]+) HTTP/1\\.[01]\r\n`, "g");

/**
 * Returns the error and the request id for a request whose only fault is a method that Node's parser does not know: any
 * token may be a method (RFC 9110, 9.1). Returns undefined for anything else.
 */
function refuseUnknownMethod(
  { code = "", rawPacket, bytesParsed = 0 }: ParseError,
  refusalOf: Refusal,
): { refusal: AppError; requestId: string } | undefined {
  if (!CODES.includes(code) || !rawPacket) return undefined;
  const text = rawPacket.toString("latin1");
  for (const line of text.matchAll(REQUEST_LINES)) {
    const [{ length }, method = "", target = ""] = line;
    const end = line.index + length;
    if (end < bytesParsed) continue;
    const head = text.slice(end - 2);
    const hasHost = line[0].endsWith("0\r\n") || headerIn(head, "host") !== undefined;
    const refusal = line.index <= bytesParsed && hasHost ? refusalOf(method, target) : undefined;
    return refusal && { refusal, requestId: validRequestId(headerIn(head, "x-request-id")) };
  }
  return undefined;
}

/** The value of a header. `text` begins with the line end before the first header. */
function headerIn(text: string, name: string): string | undefined {
  const [head = ""] = text.split("\r\n\r\n", 1);
  const value = new RegExp(`\\r\\n${name}:([^\\r\\n]*)`, "i").exec(head)?.[1];
  return value === undefined ? undefined : trimSpace(value);
}
