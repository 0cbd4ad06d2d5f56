import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { BlockList } from "node:net";
import type { TLSSocket } from "node:tls";
import type { GenericSchema } from "valibot";
import { AppError, describeError, type ErrorCode } from "../errors.ts";
import type { Log } from "../log.ts";
import { discardBody } from "./body.ts";
import { isLatest, markClosing } from "./connections.ts";
import { commonHeaders, refuseAmbiguous } from "./headers.ts";
import { problem, type Reply } from "./problem.ts";
import { clientAddress } from "./proxies.ts";

/** One request, as a handler sees it. */
export interface RequestContext {
  request: IncomingMessage;
  requestId: string;
  /** The client's canonical address. */
  address: string;
  /** The path's parameters, percent-decoded once. */
  params: PathParams;
}

export type PathParams = Record<string, string>;

/** Handles one request. An error that it throws becomes a problem response. */
export type RequestHandler = (context: RequestContext) => Promise<Reply> | Reply;

/** A response without headers of its own. Text and bytes are sent unchanged, any other value as JSON. */
export function reply(status: number, body: unknown): Reply {
  return { status, body };
}

/**
 * Who asks for an endpoint, which decides under which names it answers: browsers and programs, visitors of the login
 * page, proxies about a request of theirs, a monitoring system, or senders and load balancers. The last may use any
 * name, because they are no browsers.
 */
export type Audience = "anybody" | "visitors" | "proxies" | "monitoring" | "senders";

/** A method on a path, its request and response, and its handler. */
export interface Endpoint {
  /** `*` means every method. */
  method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS" | "*";
  /** Each segment matches exactly, or is a parameter: `/events/:id`. `/**` at the end is any rest, as it was sent. */
  path: string;
  /** `anybody` by default. */
  audience?: Audience;
  /** For the reference. */
  summary: string;
  /** What a request needs besides its body and a session. */
  needs?: string;
  /** Whether it needs the live session. */
  isGuarded?: boolean;
  /** The scope with which the token of a program is enough. */
  scope?: string | undefined;
  /** The action of the audit that it makes, if it changes something. */
  auditAction?: string;
  /** The parameters of the query. */
  query?: GenericSchema;
  /** The body of the request, if there is one. */
  request?: GenericSchema;
  /** The media types of that body; `application/json` by default. */
  requestTypes?: readonly string[];
  /** The body of a response that is no problem. */
  response: GenericSchema;
  /** The statuses of that body; 200 by default. */
  statuses?: readonly number[];
  /** The media types of a text body by status; `text/plain` by default. */
  mediaTypes?: Readonly<Record<number, string | readonly string[]>>;
  /** The media type of a body that a response may have instead. */
  otherType?: string;
  /** The path as the log has it, if not `path`. */
  loggedPath?: string;
  /** Whether its responses have no body, also those of problems. */
  isBodiless?: boolean;
  /** Its error codes, besides those of any request. */
  problems?: readonly ErrorCode[];
  /** The statuses of its errors that differ from those of their codes. */
  problemStatuses?: Partial<Record<ErrorCode, number>>;
  handler: RequestHandler;
  /** Successful requests are logged at debug, because they have their own log line or are frequent. */
  quiet?: boolean;
  /** Called for each problem that the handler throws. `reason` is not sent to the client. */
  onProblem?: (code: ErrorCode, reason: string | undefined, address: string) => void;
  /** Headers of every response of the endpoint, also of problems. */
  headersFor?: (request: IncomingMessage) => Record<string, string>;
}

/** Options of all endpoints. */
export interface EndpointOptions {
  trustedProxies: BlockList | undefined;
  /** Called for each request. */
  watchForUnnamedProxy(request: IncomingMessage): void;
  log: Log;
  /** Aborted when the server stops. Responses then close their connections. */
  stopping: AbortSignal;
}

/** What {@link handleRequest} needs of an endpoint. Without `path`, no endpoint matched. */
export type MatchedEndpoint = Pick<Endpoint, "loggedPath" | "quiet" | "onProblem" | "headersFor" | "isBodiless"> & {
  path?: string;
  handler: RequestHandler;
};

const MAX_SENT_LENGTH = 100;

/** Handles one request: runs the handler, turns errors into problems, logs, and writes the response. Never throws. */
export async function handleRequest(
  { path = "-", loggedPath = path, handler, quiet = false, onProblem, headersFor, isBodiless = false }: MatchedEndpoint,
  response: ServerResponse,
  params: PathParams,
  { log, trustedProxies, watchForUnnamedProxy, stopping }: EndpointOptions,
): Promise<void> {
  const startedAt = performance.now();
  const request = response.req;
  const requestId = requestIdOf(request);
  const address = clientAddress(request, trustedProxies);
  watchForUnnamedProxy(request);
  let result: Reply;
  let code: ErrorCode | undefined;
  let reason: string | undefined;
  let sent: string | undefined;
  try {
    refuseAmbiguous(request);
    result = await handler({ request, requestId, address, params });
  } catch (error) {
    const failure = problem(error, requestId);
    result = failure;
    code = failure.code;
    if (error instanceof AppError) ({ reason, sent = undefined } = error);
    onProblem?.(code, reason, address);
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
  const { status } = result;
  const level = quiet && status < 400 ? "debug" : "info";
  if (log.isLevelEnabled(level)) {
    const durationMs = Math.round((performance.now() - startedAt) * 100) / 100;
    const { method } = request;
    log[level](
      {
        event: "request_completed",
        requestId,
        method,
        path: loggedPath,
        status,
        code,
        reason,
        sent: sent?.slice(0, MAX_SENT_LENGTH),
        address,
        durationMs,
      },
      "request completed",
    );
  }
  if (isBodiless) result = { status, body: "", headers: { ...result.headers, "Content-Type": "text/plain" } };
  if (headersFor) result = { ...result, headers: { ...headersFor(request), ...result.headers } };
  send(response, result, requestId, stopping.aborted);
}

/** The stack of a defect. An {@link AppError} is expected and needs none. */
function stackOf(error: unknown): { stack?: string } {
  return error instanceof Error && !(error instanceof AppError) && error.stack ? { stack: error.stack } : {};
}

const VALID_REQUEST_ID = /^[A-Za-z0-9._:@+/=-]{1,128}$/;

/** The client's `X-Request-ID` if it is valid, else a new one. */
export function requestIdOf(request: IncomingMessage): string {
  return validRequestId(request.headers["x-request-id"]);
}

/** The client's request id if it is valid, else a new one. */
export function validRequestId(given: unknown): string {
  return typeof given === "string" && VALID_REQUEST_ID.test(given) ? given : randomUUID();
}

function send(
  response: ServerResponse,
  { status, body, headers }: Reply,
  requestId: string,
  isStopping: boolean,
): void {
  if (response.destroyed) return;
  const { req } = response;
  const isRaw = typeof body === "string" || body instanceof Uint8Array;
  const content = isRaw ? body : JSON.stringify(body);
  // A reply may override these headers.
  const head: Record<string, string | number | string[]> = {
    ...commonHeaders(requestId, (req.socket as TLSSocket).encrypted === true),
    "Content-Type": "application/json",
    ...headers,
    "Content-Length": Buffer.byteLength(content),
  };
  // The rest of an unread body may never arrive, and a proxy would send another client's request after it (RFC 9112,
  // 9.3). While stopping, only the latest response closes the connection: Node would drop responses after it. RFC 9110,
  // 8.6.
  if (status === 204) delete head["Content-Length"];
  if (!req.complete || (isStopping && isLatest(req))) head.Connection = "close";
  if (head.Connection === "close") markClosing(req.socket);
  response.writeHead(status, head);
  if (req.complete) response.end(content);
  else endAfterBody(response, content, status === 413 || status === 431);
}

/**
 * Ends the response after the body. Closing while the client sends would reset the connection and lose the response.
 */
function endAfterBody(response: ServerResponse, content: string | Uint8Array, isTooLarge: boolean): void {
  response.write(content);
  const discard = () => discardBody(response.req, isTooLarge, () => response.end());
  // A response without a socket waits for earlier ones on its connection.
  if (response.socket) discard();
  else response.once("socket", discard);
}
