import { createServer, type RequestListener, type Server, STATUS_CODES } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, createServer as createNetServer, type Server as NetServer, type Socket } from "node:net";
import { AppError, type ErrorCode, OperatorError } from "../errors.ts";
import { awaitReading, breakOff } from "./body.ts";
import { afterAnswers, newestAnswer, takeIn, watchConnections, watchHandshakes } from "./connections.ts";
import { requestIdOf } from "./exchange.ts";
import { HSTS, problem } from "./problem.ts";
import type { TlsFiles } from "./tls.ts";

/** A slow sender may take this long for its headers, and for the whole request. */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
// Longer than the idle time of common proxies (60 s), so that it is they who close.
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
/** Nothing comes or goes on a connection for this long although there is something to answer. */
const STALLED_MS = 120_000;

/** Creates the HTTP or HTTPS server with its limits; what is not HTTP gets a problem as its last answer. */
export function createHttpServer(listener: RequestListener, tls: TlsFiles | undefined): Server {
  const receive: RequestListener = (request, response) => {
    if (takeIn(request, response)) listener(request, response);
  };
  const limits = {
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
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
  // Nobody takes the answers.
  server.timeout = STALLED_MS;
  // A client that has said all it has to say may still wait for its answers.
  server.httpAllowHalfOpen = true;
  server.on("clientError", answerClientError);
  // Node hands the connection over instead of asking the app.
  server.on("connect", (request, socket: Socket) => {
    socket.on("error", () => {});
    afterAnswers(socket, () => endWith(socket, "not_found", requestIdOf(request)));
  });
  server.on("checkContinue", (request, response) => {
    awaitReading(request, response);
    receive(request, response);
  });
  // Node would answer an expectation that it does not know by itself; a server may pass over it (RFC 9110, 10.1.1).
  server.on("checkExpectation", receive);
  return server;
}

const TLS_LIMITS = {
  minVersion: "TLSv1.2",
  handshakeTimeout: HEADERS_TIMEOUT_MS,
  allowHalfOpen: true,
} as const;

// Long enough for the last answer to arrive.
const LINGER_MS = 1000;

const CLIENT_ERRORS: Record<string, ErrorCode> = {
  ERR_HTTP_REQUEST_TIMEOUT: "request_timeout",
  HPE_HEADER_OVERFLOW: "headers_too_large",
};

function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const code = CLIENT_ERRORS[error.code ?? ""] ?? "bad_request";
  const newest = newestAnswer(socket);
  const broken = newest?.req.complete === false ? newest : undefined;
  if (broken) breakOff(broken.req, code);
  afterAnswers(socket, () => {
    if (broken?.headersSent || !socket.writable) socket.destroy();
    else endWith(socket, code, broken ? requestIdOf(broken.req) : crypto.randomUUID());
  });
}

/** Answers outside of the app, as the last thing on the connection. */
function endWith(socket: Socket, code: ErrorCode, requestId: string): void {
  const { status, body, headers } = problem(new AppError(code), requestId);
  const text = JSON.stringify(body);
  const head = {
    ...headers,
    "Content-Length": Buffer.byteLength(text),
    "X-Request-ID": requestId,
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
    ...("encrypted" in socket ? { "Strict-Transport-Security": HSTS } : {}),
    Connection: "close",
  };
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n${text}`);
  // A client that does not close either would keep the connection, which no other limit ends now.
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

export interface Address {
  port: number;
  /** All addresses when it is undefined. */
  host: string | undefined;
  /** Other listeners of this process share the port. */
  reusePort?: boolean;
}

/** Starts listening. Returns the port. Throws {@link OperatorError} when the address cannot be had. */
export function listen(server: NetServer, address: Address): Promise<number> {
  return bind(server, address).catch(({ code }: NodeJS.ErrnoException) => {
    throw listenFailure(code ?? "", address.port);
  });
}

function bind(server: NetServer, address: Address): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(address, () => resolve((server.address() as AddressInfo).port));
  });
}

/** Listens for a moment on what must be nobody's. Returns the port. Throws the system's error when it cannot be had. */
export async function probePort(address: Omit<Address, "reusePort">): Promise<number> {
  const probe = createNetServer();
  const port = await bind(probe, address);
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

/**
 * Finds the port for listeners that will share it. It must be nobody's now: with `reusePort` two servers of one user
 * could listen there without knowing of each other. Throws {@link OperatorError} when it cannot be had.
 */
export function findPort(address: Omit<Address, "reusePort">): Promise<number> {
  return probePort(address).catch(({ code }: NodeJS.ErrnoException) => {
    throw listenFailure(code ?? "", address.port);
  });
}

/** What an address that cannot be had means to the operator. */
export function listenFailure(code: string, port: number): OperatorError {
  const remedy: Record<string, string> = {
    EADDRINUSE: `PORT ${port} is in use: stop what listens there, or set another PORT`,
    EACCES: `PORT ${port} needs privileges: set a PORT above 1023, or grant CAP_NET_BIND_SERVICE`,
    EADDRNOTAVAIL: "HOST is not an address of this machine: set HOST to one that is",
    ENOTFOUND: "HOST cannot be resolved: set HOST to an address of this machine",
    ENOTSUP: "HTTP_THREADS: this system cannot share a port between threads: set HTTP_THREADS to 1",
  };
  return new OperatorError(remedy[code] ?? `PORT ${port} cannot be opened (${code})`);
}
