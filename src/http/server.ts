import { createServer, type IncomingMessage, type RequestListener, type Server, STATUS_CODES } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { Socket } from "node:net";
import type { TlsOptions } from "node:tls";
import { AppError, type ErrorCode } from "../errors.ts";
import type { Refusal } from "./allowed-methods.ts";
import { awaitReading, breakOff } from "./body.ts";
import {
  afterAnswers,
  isEnding,
  isNewest,
  isUpgrading,
  newestAnswer,
  takeIn,
  watchConnections,
  watchHandshakes,
} from "./connections.ts";
import { requestIdOf } from "./exchange.ts";
import { endIdleConnections, IDLE_LIMITS, type IdleLimits } from "./idle-connections.ts";
import { commonHeaders, problem } from "./problem.ts";
import { MIN_TLS_VERSION, type TlsFiles } from "./tls.ts";
import { type ParseError, refuseUnknownMethod } from "./unknown-method.ts";

/** A slow sender may take this long for its headers, and for the whole request. */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;

export interface ServerOptions {
  /** Serves HTTPS with these. */
  tls: TlsFiles | undefined;
  /** Answers requests whose method Node's parser does not know. */
  refusalOf: Refusal;
  idleLimits?: IdleLimits;
}

/** Creates the HTTP or HTTPS server with its limits; what is not HTTP gets a problem as its last answer. */
export function createHttpServer(
  listener: RequestListener,
  { tls, refusalOf, idleLimits = IDLE_LIMITS }: ServerOptions,
): Server {
  const receive: RequestListener = (request, response) => {
    takeIn(request, response, listener);
    if (isUpgrading(request) && isNewest(request))
      watchEnd(request, (error) => server.emit("clientError", error, request.socket));
  };
  const limits = {
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    // Idle connections are looked for instead.
    keepAliveTimeout: 0,
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
  endIdleConnections(server, idleLimits);
  // A client that has said all it has to say may still wait for its answers.
  server.httpAllowHalfOpen = true;
  server.on("secureConnection", (socket: Socket) => {
    socket.allowHalfOpen = true;
  });
  server.on("clientError", (error, socket: Socket) => answerClientError(error, socket, refusalOf));
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

/** Tells of a body that its sender has broken off: Node's parser does not, of a request that asks for another protocol. */
function watchEnd(request: IncomingMessage, onBroken: (error: Error) => void): void {
  request.socket.once("end", () => {
    if (!request.complete) onBroken(new Error("the body was broken off"));
  });
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

function answerClientError(error: ParseError, socket: Socket, refusalOf: Refusal): void {
  // Behind the last answer, or a request that wants no other: what still comes is read and thrown away, for a connection
  // that is closed under a client that sends would be reset, and the answer lost.
  if (error.code === "HPE_CLOSED_CONNECTION" || (isEnding(socket) && error.code !== "ECONNRESET")) return;
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const { refusal, requestId } = refuseUnknownMethod(error, refusalOf) ?? {};
  const answer = refusal ?? new AppError(CLIENT_ERRORS[error.code ?? ""] ?? "bad_request");
  const newest = newestAnswer(socket);
  const broken = newest?.req.complete === false ? newest : undefined;
  if (broken) breakOff(broken.req, answer.code);
  afterAnswers(socket, () => {
    if (broken?.headersSent || !socket.writable) socket.destroy();
    else endWith(socket, answer, broken ? requestIdOf(broken.req) : (requestId ?? crypto.randomUUID()));
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
