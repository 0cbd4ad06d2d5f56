import { createServer, type RequestListener, type Server, STATUS_CODES } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { Socket } from "node:net";
import type { TlsOptions } from "node:tls";
import { AppError, type ErrorCode } from "../errors.ts";
import { awaitReading, breakOff } from "./body.ts";
import { type ConnectionLimits, limitConnections } from "./connection-limits.ts";
import { afterAnswers, isEnding, newestAnswer, receiver, watchConnections, watchHandshakes } from "./connections.ts";
import { commonHeaders } from "./headers.ts";
import { problem } from "./problem.ts";
import { requestIdOf } from "./route.ts";
import type { Refusal } from "./router.ts";
import { MIN_TLS_VERSION, type TlsFiles } from "./tls.ts";
import { type ParseError, refuseUnknownMethod } from "./unknown-method.ts";

/** A slow sender may take this long for its headers, and for the whole request. */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;

/** How long nothing may come or go on a connection, in milliseconds: while there is nothing to answer, and while there is. */
export interface IdleLimits {
  keepAliveTimeout: number;
  timeout: number;
}

// Longer than the idle time of common proxies (60 s), so that it is they who close.
const IDLE_LIMITS: IdleLimits = { keepAliveTimeout: 65_000, timeout: 120_000 };

export interface ServerOptions {
  /** Serves HTTPS with these. */
  tls: TlsFiles | undefined;
  /** Answers requests whose method Node's parser does not know. */
  refusal: Refusal;
  idleLimits?: IdleLimits;
  /** No other limit than the process's without these. */
  connectionLimits?: ConnectionLimits;
}

/** Creates the HTTP or HTTPS server with its limits; what is not HTTP gets a problem as its last answer. */
export function createHttpServer(
  listener: RequestListener,
  { tls, refusal, idleLimits = IDLE_LIMITS, connectionLimits }: ServerOptions,
): Server {
  const receive = receiver(listener, (error, socket) => server.emit("clientError", error, socket));
  const limits = {
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: idleLimits.keepAliveTimeout,
    connectionsCheckingInterval: 1000,
    // The app refuses such a request itself, with a problem.
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
  // A client that has said all it has to say may still wait for its answers.
  server.httpAllowHalfOpen = true;
  server.on("secureConnection", (socket: Socket) => {
    socket.allowHalfOpen = true;
  });
  server.on("clientError", (error, socket: Socket) => answerClientError(error, socket, refusal));
  // Node hands the connection over instead of asking the app.
  server.on("connect", (request, socket: Socket) => {
    socket.on("error", () => {});
    afterAnswers(socket, () => endWith(socket, new AppError("not_found"), requestIdOf(request)));
  });
  server.on("checkContinue", (request, response) => {
    awaitReading(request, response);
    receive(request, response);
  });
  // Node would answer an expectation that it does not know by itself; a server may pass over it (RFC 9110, 10.1.1).
  server.on("checkExpectation", receive);
  return server;
}

const TLS_LIMITS: TlsOptions = {
  minVersion: MIN_TLS_VERSION,
  handshakeTimeout: HEADERS_TIMEOUT_MS,
  // Node names the first only, and refuses a client that asks for the second.
  ALPNProtocols: ["http/1.1", "http/1.0"],
};

// Long enough for the last answer to arrive, also at a client that is still sending.
const LINGER_MS = 3000;

const CLIENT_ERRORS: Record<string, ErrorCode> = {
  ERR_HTTP_REQUEST_TIMEOUT: "request_timeout",
  HPE_HEADER_OVERFLOW: "headers_too_large",
};

function answerClientError(error: ParseError, socket: Socket, refusal: Refusal): void {
  // Behind the last answer, or a request that wants no other: what still comes is read and thrown away, for a connection
  // that is closed under a client that sends would be reset, and the answer lost.
  if (error.code === "HPE_CLOSED_CONNECTION" || (isEnding(socket) && error.code !== "ECONNRESET")) return;
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const unknown = refuseUnknownMethod(error, refusal);
  const answer = unknown?.refusal ?? new AppError(CLIENT_ERRORS[error.code ?? ""] ?? "bad_request");
  const newest = newestAnswer(socket);
  const broken = newest?.req.complete === false ? newest : undefined;
  if (broken) breakOff(broken.req, answer.code);
  afterAnswers(socket, () => {
    if (broken?.headersSent || !socket.writable) socket.destroy();
    else endWith(socket, answer, broken ? requestIdOf(broken.req) : (unknown?.requestId ?? crypto.randomUUID()));
  });
}

/** Answers outside of the app, as the last thing on the connection. */
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
    // A client that does not close either would keep the connection, which no other limit ends now.
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  });
}
