import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import { Server as NetServer, type Socket } from "node:net";
import { networkOf } from "../lib/network.ts";
import { peerAddress } from "./proxies.ts";

// Reading a connection pauses while this many of its requests, or this length of their headers, wait for responses.
const MAX_WAITING = 8;
const MAX_WAITING_HEADERS = 8 * 1024;

// One read of a socket may contain more requests. Each takes 2 KB while it waits. More than this close the connection.
const MAX_UNANSWERED = 100;

// How many requests that have waited for earlier ones of their connection start at once, of all that a client has.
// Requests of others come between.
const STARTED_AT_ONCE = 16;

/** The state of a connection with pipelined requests. */
class Connection {
  /** The latest response, until it is finished. */
  latest: ServerResponse | undefined = undefined;
  /** Unfinished responses before the latest one, in order. Empty unless the client pipelines. */
  earlier: ServerResponse[] = [];
  /** Reading is paused until fewer requests wait. */
  isPaused = false;
  /** A response has `Connection: close`. */
  isClosing = false;
  /** The last response is written, or waits for its turn. */
  isEnding = false;
  /** The number of requests after a request with `Upgrade`, which is the last one on its connection. */
  afterUpgrade: number | undefined = undefined;
}

const known = new WeakMap<Socket, Connection>();

function connectionOf(socket: Socket): Connection {
  let connection = known.get(socket);
  if (connection === undefined) {
    connection = new Connection();
    known.set(socket, connection);
  }
  return connection;
}

/** Whether a request asks for another protocol. It is then the last one on its connection. */
function isUpgrading({ headers }: IncomingMessage): boolean {
  return headers.upgrade !== undefined;
}

/** Marks a connection whose response has `Connection: close`. Later requests on it are not run (RFC 9112, 9.6). */
export function markClosing(socket: Socket): void {
  connectionOf(socket).isClosing = true;
}

function isClosed(socket: Socket, { isClosing }: Connection): boolean {
  return socket.destroyed || isClosing;
}

/**
 * Wraps a listener so that it handles pipelined requests safely. `onAborted` is called for an incomplete body of a
 * request with `Upgrade`: Node's parser does not report it.
 */
export function pipelined(run: RequestListener, onAborted: (error: Error, socket: Socket) => void): RequestListener {
  const start = createTurns();
  return (request, response) => {
    receive(request, response, { run, start });
    if (!isUpgrading(request) || !isLatest(request)) return;
    request.socket.once("end", () => {
      if (!request.complete) onAborted(new Error("the body was aborted"), request.socket);
    });
  };
}

/** Starts a few waiting requests of each client in a turn of the event loop. */
type Turns = (client: string, start: () => void) => void;

function createTurns(): Turns {
  const waiting = new Map<string, (() => void)[]>();
  const startSome = (client: string) => {
    const starts = waiting.get(client) ?? [];
    for (const start of starts.splice(0, STARTED_AT_ONCE)) start();
    if (starts.length > 0) setImmediate(startSome, client);
    else waiting.delete(client);
  };
  return (client, start) => {
    const starts = waiting.get(client);
    if (starts) {
      starts.push(start);
      return;
    }
    waiting.set(client, [start]);
    setImmediate(startSome, client);
  };
}

/**
 * Runs a request at once, or after the earlier responses on its connection. A request on a closed connection is not
 * run. Too many waiting requests close the connection. A request after one with `Upgrade` is not run either: Node's
 * parser drops part of the input there, so the request may be part of a body.
 */
function receive(
  request: IncomingMessage,
  response: ServerResponse,
  { run, start }: { run: RequestListener; start: Turns },
): void {
  const { socket } = request;
  const connection = connectionOf(socket);
  // The parser may still emit requests that it has read before.
  if (isClosed(socket, connection)) return;
  if (connection.afterUpgrade !== undefined) {
    connection.afterUpgrade++;
    if (connection.afterUpgrade > MAX_UNANSWERED) socket.destroy();
    return;
  }
  if (isUpgrading(request)) {
    connection.afterUpgrade = 0;
    response.shouldKeepAlive = false;
  }
  response.on("close", onAnswered);
  if (!connection.latest) {
    connection.latest = response;
    run(request, response);
    return;
  }
  if (!connection.latest.closed) connection.earlier.push(connection.latest);
  dropClosed(connection);
  connection.latest = response;
  if (connection.earlier.length >= MAX_UNANSWERED) {
    socket.destroy();
    return;
  }
  if (isFull(connection)) pauseReading(socket, connection);
  const runInTurn = () =>
    start(networkOf(peerAddress(socket)), () => {
      if (!isClosed(socket, connection)) run(request, response);
    });
  const previous = connection.earlier.at(-1);
  if (previous) previous.once("close", runInTurn);
  else runInTurn();
}

function onAnswered(this: ServerResponse): void {
  const { req } = this;
  const connection = connectionOf(req.socket);
  if (connection.isPaused) resumeReading(req.socket, connection);
  if (req.complete && connection.latest === this) releaseLatest(connection);
}

/** Responses finish in order. */
function dropClosed({ earlier }: Connection): void {
  while (earlier[0]?.closed) earlier.shift();
}

function isFull({ earlier }: Connection): boolean {
  if (earlier.length >= MAX_WAITING) return true;
  let length = 0;
  for (const { req } of earlier) for (const text of req.rawHeaders) length += text.length;
  return length >= MAX_WAITING_HEADERS;
}

/** Pauses reading a connection. */
function pauseReading(socket: Socket, connection: Connection): void {
  if (connection.isPaused) return;
  connection.isPaused = true;
  socket.on("resume", stayPaused).pause();
}

/** Keeps a connection paused: reading the body of a request resumes it, and Node reads until it sees another pause. */
function stayPaused(this: Socket): void {
  if (this.readableFlowing) this.pause();
  else this.emit("pause");
}

/** Resumes reading a paused connection once few enough requests wait. */
function resumeReading(socket: Socket, connection: Connection): void {
  dropClosed(connection);
  if (isFull(connection)) return;
  connection.isPaused = false;
  socket.off("resume", stayPaused).resume();
}

/** Releases the last request of an idle connection: its headers may take 100 KB. */
function releaseLatest(connection: Connection): void {
  connection.latest = undefined;
  if (connection.earlier.length > 0) connection.earlier = [];
}

export function latestResponse(socket: Socket): ServerResponse | undefined {
  return connectionOf(socket).latest;
}

/** Whether this is the latest request on its connection. */
export function isLatest(request: IncomingMessage): boolean {
  return latestResponse(request.socket)?.req === request;
}

/** Whether the last response on a connection is written, or waits for its turn. */
export function isEnding(socket: Socket): boolean {
  return connectionOf(socket).isEnding;
}

/** Calls `end` once per connection, after the responses to all complete requests on it. */
export function afterResponses(socket: Socket, end: () => void): void {
  const connection = connectionOf(socket);
  if (connection.isEnding) return;
  connection.isEnding = true;
  const last = connection.latest?.req.complete ? connection.latest : connection.earlier.at(-1);
  if (last && !last.closed) onceWritten(last, end);
  else end();
}

/**
 * Calls `run` after the last byte of a response. A connection that the client has half closed is still writable then.
 */
function onceWritten(response: ServerResponse, run: () => void): void {
  const once = () => {
    response.off("prefinish", once).off("close", once);
    run();
  };
  response.on("prefinish", once).on("close", once);
}

/** TLS connections before the end of their handshake. Node's HTTP server does not know them yet. */
const handshakes = new WeakMap<Server, Map<string, Socket>>();

/** Tracks the connections of a TLS server until their handshake ends. */
export function watchHandshakes<TlsServer extends Server>(server: TlsServer): TlsServer {
  const pending = new Map<string, Socket>();
  handshakes.set(server, pending);
  const peerOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`;
  server.on("connection", (socket: Socket) => {
    const peer = peerOf(socket);
    pending.set(peer, socket);
    socket.on("close", () => {
      if (pending.get(peer) === socket) pending.delete(peer);
    });
  });
  server.on("secureConnection", (socket: Socket) => void pending.delete(peerOf(socket)));
  return server;
}

/** The open connections of each server, for TLS after the handshake. */
const connections = new WeakMap<Server, Set<Socket>>();

/** Tracks the open connections of a server. */
export function watchConnections<HttpServer extends Server>(
  server: HttpServer,
  event: "connection" | "secureConnection",
): HttpServer {
  const open = new Set<Socket>();
  connections.set(server, open);
  server.on(event, (socket: Socket) => {
    open.add(socket);
    socket.on("close", () => open.delete(socket));
  });
  return server;
}

function connectionsOf(server: Server): Iterable<Socket> {
  return connections.get(server) ?? [];
}

// Idle connections stay open this long, for requests that the client has already sent.
const IDLE_MS = 100;
// A client may go on sending a request that has its response. Its connection is closed after this time.
const ANSWERED_MS = 1000;

/** Stops accepting connections and waits for requests in flight. Those left at the deadline are cut off. */
export function closeServer(server: Server, deadlineMs: number): Promise<void> {
  return new Promise((resolve) => {
    const answeredEndsAt = performance.now() + ANSWERED_MS;
    const closeIdle = () => {
      server.closeIdleConnections();
      if (performance.now() < answeredEndsAt) return;
      for (const socket of connectionsOf(server)) {
        const { latest, earlier } = connectionOf(socket);
        const isNext = earlier.every((response) => response.closed);
        if (isNext && latest?.headersSent && !latest.req.complete) socket.destroy();
      }
    };
    // After a stall the timer is due first. Requests that have come meanwhile are read before the connections close.
    const closing = setInterval(() => setImmediate(closeIdle), IDLE_MS);
    const deadline = setTimeout(() => {
      server.closeAllConnections();
      // Node no longer tracks connections with a CONNECT request.
      for (const socket of connectionsOf(server)) socket.destroy();
    }, deadlineMs);
    // The HTTP server's connection close() closes idle connections at once, and a request on its way would be lost.
    NetServer.prototype.close.call(server, () => {
      clearInterval(closing);
      clearTimeout(deadline);
      // Stops the HTTP server's connection timer.
      server.close();
      resolve();
    });
    for (const socket of handshakes.get(server)?.values() ?? []) socket.destroy();
  });
}
