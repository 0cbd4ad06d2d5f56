import { randomUUID } from "node:crypto";
import { type IncomingMessage, STATUS_CODES } from "node:http";
import type { BlockList } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { TLSSocket } from "node:tls";
import type { EventHandler, H3Event } from "h3";
import { AppError, describeError, type ErrorCode } from "../errors.ts";
import type { Log } from "../log.ts";
import { clientAddress } from "./client-address.ts";
import { isNewest } from "./connections.ts";
import { TextResponse } from "./listener.ts";
import { commonHeaders, problem, type Reply } from "./problem.ts";

/** One request, as a handler sees it. */
export interface Exchange {
  request: IncomingMessage;
  requestId: string;
  /** The client's canonical address. */
  address: string;
}

/** Answers one request. What it throws becomes a problem. */
export type Handler = (exchange: Exchange) => Promise<Reply> | Reply;

/** An answer without headers of its own. A text is sent as it is, any other body as JSON. */
export function reply(status: number, body: unknown): Reply {
  return { status, body };
}

/** A path with its method and handler. */
export interface Route {
  method: "GET" | "POST";
  path: string;
  handler: Handler;
  /** Success of a quiet route is logged at debug: it has a log line of its own, or is asked all the time. */
  quiet?: boolean;
  /** Told of each problem that the handler ends in. */
  onProblem?: (code: ErrorCode) => void;
}

/** What is the same for every route. */
export interface ExchangeOptions {
  trustedProxies: BlockList | undefined;
  log: Log;
  /** Whether the server is being stopped: answers then close their connections. */
  isStopping: () => boolean;
}

/** Makes an h3 handler of a route's handler: identifies the request, answers, turns errors into problems, logs. */
export function toEventHandler(
  { path, handler, quiet = false, onProblem }: Omit<Route, "method">,
  options: ExchangeOptions,
): EventHandler {
  const { log, trustedProxies, isStopping } = options;
  return async (event) => {
    const startedAt = performance.now();
    const request = nodeRequest(event);
    const requestId = requestIdOf(request);
    const address = clientAddress(request, trustedProxies);
    let answer: Reply;
    let code: string | undefined;
    try {
      answer = await handler({ request, requestId, address });
    } catch (error) {
      const failure = problem(error, requestId);
      answer = failure;
      code = failure.code;
      onProblem?.(failure.code);
      if (failure.status >= 500) {
        log.error(
          { event: "request_failed", requestId, code, error: describeError(error), ...stackOf(error) },
          "request failed",
        );
      }
    }
    const level = quiet && answer.status < 400 ? "debug" : "info";
    if (log.isLevelEnabled(level)) {
      const line = {
        event: "request_completed" as const,
        requestId,
        method: request.method,
        path,
        status: answer.status,
        code,
        address,
        durationMs: Math.round((performance.now() - startedAt) * 100) / 100,
      };
      log[level](line, "request completed");
    }
    // Whoever has the answer finds its lines in the log.
    if (level === "info") log.flush();
    // The end of a body that came with its head is known then.
    if (!request.complete) await nextTurn();
    return toResponse(answer, requestId, request, isStopping());
  };
}

/** Node's request behind an h3 event. Throws when the app runs on anything but Node's HTTP server. */
export function nodeRequest(event: H3Event): IncomingMessage {
  const request = event.runtime?.node?.req;
  if (!request) throw new Error("the service runs on Node's HTTP server only");
  return request as IncomingMessage;
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

function toResponse(answer: Reply, requestId: string, request: IncomingMessage, isStopping: boolean): Response {
  const headers = commonHeaders(requestId, (request.socket as TLSSocket).encrypted === true);
  headers["Content-Type"] = "application/json";
  // An answer may set another value for any of them.
  for (const name in answer.headers) headers[name] = answer.headers[name] as string;
  // A proxy would send another client's request behind the rest of this one's body, which may never come (RFC 9112, 9.3).
  // At a stop, Node would drop the answers behind this one.
  if (!request.complete || (isStopping && isNewest(request))) headers.Connection = "close";
  const text = typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body);
  headers["Content-Length"] = String(Buffer.byteLength(text));
  return new TextResponse(text, { status: answer.status, statusText: STATUS_CODES[answer.status] ?? "", headers });
}
