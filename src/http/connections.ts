import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import { Server as NetServer, type Socket } from "node:net";

// A connection is not read on while as many of its requests wait for their answers, or their headers are as long together.
const MAX_WAITING = 8;
const MAX_WAITING_HEADERS = 8 * 1024;

// What one read of a connection brings may hold more requests, 2 KB each while they wait. Beyond this the connection ends.
const MAX_UNANSWERED = 100;

/** What is known of a connection. */
class Connection {
  /** The newest answer, until it is done. */
  newest: ServerResponse | undefined = undefined;
  /** Those before it that are not done, in order. Empty unless the client sends on without waiting. */
  before: ServerResponse[] = [];
  /** It is not read on until fewer of its requests wait. */
  isHeld = false;
  /** An answer says `Connection: close`. */
  isClosing = false;
  /** The last answer waits for its turn, or has been given. */
  isEnding = false;
  /** How many requests came behind one that asked for another protocol, with whose answer the connection ends. */
  behindUpgrade: number | undefined = undefined;
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

/** Whether a request asks for another protocol, and so is the last on its connection. */
function isUpgrading({ headers }: IncomingMessage): boolean {
  return headers.upgrade !== undefined;
}

/** Notes that an answer says `Connection: close`: no request behind it is run (RFC 9112, 9.6). */
export function closeBehind(socket: Socket): void {
  connectionOf(socket).isClosing = true;
}

function isClosed(socket: Socket, { isClosing }: Connection): boolean {
  return socket.destroyed || isClosing;
}

/**
 * Makes of a listener one that receives the requests of a server. `onBroken` is told of a body that its sender has broken
 * off: Node's parser does not tell, of a request that asks for another protocol.
 */
export function receiver(run: RequestListener, onBroken: (error: Error, socket: Socket) => void): RequestListener {
  return (request, response) => {
    receive(request, response, run);
    if (!isUpgrading(request) || !isNewest(request)) return;
    request.socket.once("end", () => {
      if (!request.complete) onBroken(new Error("the body was broken off"), request.socket);
    });
  };
}

/**
 * Receives a request, and runs it: at once, or behind the answers to those before it on its connection, of which one, or
 * itself, may change something (RFC 9112, 9.3.2). It is never run when the connection is closed, or is now because too
 * many on it wait for answers, nor behind one that asked for another protocol: Node's parser drops what came with that
 * one, and would take the middle of a message for a request.
 */
function receive(request: IncomingMessage, response: ServerResponse, run: RequestListener): void {
  const { socket } = request;
  const own = connectionOf(socket);
  // The parser goes on with what it has read.
  if (isClosed(socket, own)) return;
  if (own.behindUpgrade !== undefined) {
    own.behindUpgrade++;
    if (own.behindUpgrade > MAX_UNANSWERED) socket.destroy();
    return;
  }
  if (isUpgrading(request)) {
    own.behindUpgrade = 0;
    response.shouldKeepAlive = false;
  }
  response.on("close", onAnswered);
  if (!own.newest) {
    own.newest = response;
    run(request, response);
    return;
  }
  if (!own.newest.closed) own.before.push(own.newest);
  forgetClosed(own);
  own.newest = response;
  if (own.before.length >= MAX_UNANSWERED) {
    socket.destroy();
    return;
  }
  if (isFull(own)) hold(socket, own);
  const previous = own.before.at(-1);
  if (!previous || [request, ...own.before.map(({ req }) => req)].every(isSafe)) run(request, response);
  else {
    previous.once("close", () => {
      if (!isClosed(socket, own)) run(request, response);
    });
  }
}

function onAnswered(this: ServerResponse): void {
  const { req } = this;
  const own = connectionOf(req.socket);
  if (own.isHeld) readOn(req.socket, own);
  if (req.complete && own.newest === this) forget(own);
}

/** Answers are done in their order. */
function forgetClosed({ before }: Connection): void {
  while (before[0]?.closed) before.shift();
}

function isFull({ before }: Connection): boolean {
  if (before.length >= MAX_WAITING) return true;
  let length = 0;
  for (const { req } of before) for (const text of req.rawHeaders) length += text.length;
  return length >= MAX_WAITING_HEADERS;
}

/** Stops reading a connection. */
function hold(socket: Socket, own: Connection): void {
  if (own.isHeld) return;
  own.isHeld = true;
  socket.on("resume", stayPaused).pause();
}

/** Whoever reads the body of a request resumes its connection, which Node then reads unless it is told of a pause again. */
function stayPaused(this: Socket): void {
  if (this.readableFlowing) this.pause();
  else this.emit("pause");
}

/** Reads a connection on that is held, when few enough of its requests wait. */
function readOn(socket: Socket, own: Connection): void {
  forgetClosed(own);
  if (isFull(own)) return;
  own.isHeld = false;
  socket.off("resume", stayPaused).resume();
}

/** An idle connection keeps nothing of its last request, whose headers may take a hundred kilobytes. */
function forget(own: Connection): void {
  own.newest = undefined;
  if (own.before.length > 0) own.before = [];
}

/** Whether a request changes nothing (RFC 9110, 9.2.1). */
function isSafe({ method }: IncomingMessage): boolean {
  return method === "GET" || method === "HEAD" || method === "OPTIONS";
}

export function newestAnswer(socket: Socket): ServerResponse | undefined {
  return connectionOf(socket).newest;
}

/** Whether no other request has come behind this one. */
export function isNewest(request: IncomingMessage): boolean {
  return newestAnswer(request.socket)?.req === request;
}

/** Whether a connection has its last answer, or waits for its turn with it. */
export function isEnding(socket: Socket): boolean {
  return connectionOf(socket).isEnding;
}

/** Ends a connection once, behind the answers to the whole requests on it. */
export function afterAnswers(socket: Socket, end: () => void): void {
  const own = connectionOf(socket);
  if (own.isEnding) return;
  own.isEnding = true;
  const last = own.newest?.req.complete ? own.newest : own.before.at(-1);
  if (last && !last.closed) onceWritten(last, end);
  else end();
}

/** Runs behind the last byte of an answer, while the connection of a client that has closed its own side may be written to. */
function onceWritten(answer: ServerResponse, run: () => void): void {
  const once = () => {
    answer.off("prefinish", once).off("close", once);
    run();
  };
  answer.on("prefinish", once).on("close", once);
}

/** Connections of a TLS server that have not shaken hands: Node's HTTP server does not know of them yet. */
const handshakes = new WeakMap<Server, Map<string, Socket>>();

export function watchHandshakes<TlsServer extends Server>(server: TlsServer): TlsServer {
  const underWay = new Map<string, Socket>();
  handshakes.set(server, underWay);
  const peerOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`;
  server.on("connection", (socket: Socket) => {
    const peer = peerOf(socket);
    underWay.set(peer, socket);
    socket.on("close", () => {
      if (underWay.get(peer) === socket) underWay.delete(peer);
    });
  });
  server.on("secureConnection", (socket: Socket) => void underWay.delete(peerOf(socket)));
  return server;
}

/** The connections of each server that requests may come on. */
const connections = new WeakMap<Server, Set<Socket>>();

/** Remembers the connections of a server. */
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

/** The connections of a server that {@link watchConnections} has watched. */
function connectionsOf(server: Server): Iterable<Socket> {
  return connections.get(server) ?? [];
}

// Requests that were sent before the client could know come within this time.
const IDLE_MS = 100;
// What a client still sends of a request that has been answered is no reason to wait.
const ANSWERED_MS = 1000;

/** Stops accepting, lets requests in flight finish, and cuts those that have not after the deadline. */
export function closeServer(server: Server, deadlineMs: number): Promise<void> {
  return new Promise((resolve) => {
    const answeredEndsAt = performance.now() + ANSWERED_MS;
    const rounds = setInterval(() => {
      server.closeIdleConnections();
      if (performance.now() < answeredEndsAt) return;
      for (const socket of connectionsOf(server)) {
        const { newest, before } = connectionOf(socket);
        const isNext = before.every((answer) => answer.closed);
        if (isNext && newest?.headersSent && !newest.req.complete) socket.destroy();
      }
    }, IDLE_MS);
    const deadline = setTimeout(() => {
      server.closeAllConnections();
      // Node knows no more of a connection on which CONNECT came.
      for (const socket of connectionsOf(server)) socket.destroy();
    }, deadlineMs);
    // The HTTP server's own close would end idle connections at once, under requests that are on their way.
    NetServer.prototype.close.call(server, () => {
      clearInterval(rounds);
      clearTimeout(deadline);
      // Ends the HTTP server's own timer.
      server.close();
      resolve();
    });
    for (const socket of handshakes.get(server)?.values() ?? []) socket.destroy();
  });
}
