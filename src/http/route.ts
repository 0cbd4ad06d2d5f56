import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { BlockList } from "node:net";
import type { TLSSocket } from "node:tls";
import type { GenericSchema } from "valibot";
import { AppError, describeError, type ErrorCode } from "../errors.ts";
import type { Log } from "../log.ts";
import { discardRest } from "./body.ts";
import { clientAddress } from "./client-address.ts";
import { closeBehind, isNewest } from "./connections.ts";
import { commonHeaders } from "./headers.ts";
import { problem, type Reply } from "./problem.ts";

/** One request, as a handler sees it. */
export interface Exchange {
  request: IncomingMessage;
  requestId: string;
  /** The client's canonical address. */
  address: string;
  /** The values of the path's parameters, decoded once. */
  params: PathParams;
}

export type PathParams = Record<string, string>;

/** Answers one request. What it throws becomes a problem. */
export type Handler = (exchange: Exchange) => Promise<Reply> | Reply;

/** An answer without headers of its own. A text is sent as it is, any other body as JSON. */
export function reply(status: number, body: unknown): Reply {
  return { status, body };
}

/** A method on a path, what it takes and gives, and its handler. */
export interface Route {
  /** `*` takes every method. */
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "*";
  /** Segments are taken to the letter, or are parameters: `/events/:id`. */
  path: string;
  /** What it is for. */
  summary: string;
  /** What a request needs beside its body. */
  needs?: string;
  /** The shape of the request's JSON body, where it has one. */
  request?: GenericSchema;
  /** The shape of the body of a success. */
  response: GenericSchema;
  /** The statuses that come with that body; 200 by default. */
  statuses?: readonly number[];
  /** The codes that it is refused with, beside those that any request may be. */
  problems?: readonly ErrorCode[];
  handler: Handler;
  /** Success of a quiet route is logged at debug: it has a log line of its own, or is asked all the time. */
  quiet?: boolean;
  /** Told of each problem that the handler ends in; `reason` is for whoever reads the log. */
  onProblem?: (code: ErrorCode, reason?: string) => void;
}

/** What is the same for every route. */
export interface RouteOptions {
  trustedProxies: BlockList | undefined;
  /** Called with each request. */
  watchForUnnamedProxy(request: IncomingMessage): void;
  log: Log;
  /** Aborted when the server is being stopped: answers then close their connections. */
  stopping: AbortSignal;
}

/** What {@link answer} needs of a route. Without `path` no route was found. */
export type Answering = Pick<Route, "quiet" | "onProblem"> & { path?: string; handler: Handler };

/** Answers one request: identifies it, runs the handler, turns errors into problems, logs, writes. Never throws. */
export async function answer(
  { path = "-", handler, quiet = false, onProblem }: Answering,
  response: ServerResponse,
  params: PathParams,
  { log, trustedProxies, watchForUnnamedProxy, stopping }: RouteOptions,
): Promise<void> {
  const startedAt = performance.now();
  const request = response.req;
  const requestId = requestIdOf(request);
  const address = clientAddress(request, trustedProxies);
  watchForUnnamedProxy(request);
  let given: Reply;
  let code: ErrorCode | undefined;
  let reason: string | undefined;
  try {
    given = await handler({ request, requestId, address, params });
  } catch (error) {
    const failure = problem(error, requestId);
    given = failure;
    code = failure.code;
    reason = error instanceof AppError ? error.reason : undefined;
    onProblem?.(code, reason);
    if (failure.status >= 500) {
      const line = {
        event: "request_failed" as const,
        requestId,
        code,
        error: describeError(error),
        ...stackOf(error),
      };
      log.error(line, "request failed");
    }
  }
  const { status } = given;
  const level = quiet && status < 400 ? "debug" : "info";
  if (log.isLevelEnabled(level)) {
    const durationMs = Math.round((performance.now() - startedAt) * 100) / 100;
    const { method } = request;
    log[level](
      { event: "request_completed", requestId, method, path, status, code, reason, address, durationMs },
      "request completed",
    );
  }
  send(response, given, requestId, stopping.aborted);
}

/** A defect is logged with its stack; a designed answer needs none. */
function stackOf(error: unknown): { stack?: string } {
  return error instanceof Error && !(error instanceof AppError) && error.stack ? { stack: error.stack } : {};
}

const SANE_REQUEST_ID = /^[A-Za-z0-9._:@+/=-]{1,128}$/;

/** The caller's `X-Request-ID` when it is sane, else a new one. */
export function requestIdOf(request: IncomingMessage): string {
  return saneRequestId(request.headers["x-request-id"]);
}

/** The id that a caller gave, when it is sane, else a new one. */
export function saneRequestId(given: unknown): string {
  return typeof given === "string" && SANE_REQUEST_ID.test(given) ? given : randomUUID();
}

function send(
  response: ServerResponse,
  { status, body, headers }: Reply,
  requestId: string,
  isStopping: boolean,
): void {
  if (response.destroyed) return;
  const { req } = response;
  const text = typeof body === "string" ? body : JSON.stringify(body);
  // An answer may set another value for any of them.
  const head: Record<string, string | number> = {
    ...commonHeaders(requestId, (req.socket as TLSSocket).encrypted === true),
    "Content-Type": "application/json",
    ...headers,
    "Content-Length": Buffer.byteLength(text),
  };
  // A proxy would send another client's request behind the rest of this one's body, which may never come (RFC 9112, 9.3).
  // At a stop, Node would drop the answers behind this one.
  if (!req.complete || (isStopping && isNewest(req))) head.Connection = "close";
  if (head.Connection === "close") closeBehind(req.socket);
  response.writeHead(status, head);
  if (req.complete) response.end(text);
  else endBehindBody(response, text, status === 413 || status === 431);
}

/** Closed under a client that is still sending, the connection would be reset and the answer lost. */
function endBehindBody(response: ServerResponse, text: string, isTooLarge: boolean): void {
  response.write(text);
  const discard = () => discardRest(response.req, isTooLarge, () => response.end());
  // Without a socket it is not this answer's turn yet.
  if (response.socket) discard();
  else response.once("socket", discard);
}
