import {
  type ClientRequest,
  Agent as HttpAgent,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request as requestHttp,
} from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import { systemCode } from "../../errors.ts";
import type { ClaimedJob } from "../../events/job.ts";
import type { EventPayload } from "../../events/store.ts";
import { decodeBeginning, MAX_RESPONSE_BYTES } from "../../lib/beginning.ts";
import { outgoing } from "../../lib/outgoing.ts";
import { readRetryAfter } from "../../lib/retry-after.ts";
import { trustSystemAuthorities } from "../../lib/system-authorities.ts";
import { isUnreadable, MAX_HEADER_BYTES, statusIn } from "../../lib/unread-answer.ts";
import {
  type Answered,
  type Handler,
  type HttpAnswer,
  isOutOfDescriptors,
  type OnAnswer,
  TargetError,
  type WaitUntil,
} from "../handler.ts";
import type { HttpTarget, SenderSecret } from "../route.ts";
import { bodyOf, headersOf } from "./http-headers.ts";

// Limits for reading the rest of a response, so that the next event can reuse the connection.
const MAX_DRAINED_BYTES = 64 * 1024;
const MAX_DRAIN_MS = 1000;
// Longest time to send the rest of an event to a target that has already answered.
const MAX_UPLOAD_MS = 30_000;

/** Makes the request that a sender would make with an event. Throws an error if it cannot be signed. */
export type SignAsSender = (
  as: SenderSecret,
  event: EventPayload,
  url: string,
  now: number,
) => { url: string; headers: Record<string, string>; body: Uint8Array };

interface HttpRequest {
  url: URL;
  headers: OutgoingHttpHeaders;
  /** Null if the method has no body. */
  body: Uint8Array | null;
}

/**
 * Sends each event to a URL: its raw bytes and content type, with its identity in headers, signed with `key` if there
 * is one. Any 2xx response is success. Redirects are not followed: they would send the payload to a host that is
 * not configured.
 *
 * It uses `node:http`, because `fetch` times out after five minutes and refuses some ports.
 */
export function createHttpHandler(to: Omit<HttpTarget, "kind">, signAsSender?: SignAsSender): Handler {
  const { url, method = "POST", signWith, tls } = to;
  const target = new URL(url);
  const isTls = target.protocol === "https:";
  if (isTls) trustSystemAuthorities();
  const Agent = isTls ? HttpsAgent : HttpAgent;
  const agent = new Agent({ keepAlive: true, ...outgoing() });
  const request = isTls ? requestHttps : requestHttp;

  function requestOf(event: ClaimedJob, now: number): HttpRequest {
    if (signWith && signAsSender) {
      const made = signAsSender(signWith, event, url, now);
      const headers = { ...made.headers, "content-length": made.body.length, ...to.headers };
      return { url: new URL(made.url), headers, body: made.body };
    }
    const body = bodyOf(event, to);
    return { url: target, headers: headersOf(event, body, to, now), body };
  }

  /** The first try may reuse a connection; a second one opens a new one. */
  function send(
    event: ClaimedJob,
    signal: AbortSignal,
    waitUntil: WaitUntil,
    onAnswer: OnAnswer | undefined,
    isFirst: boolean,
  ): Promise<Answered> {
    return new Promise((resolve, reject) => {
      const { url: address, headers, body } = requestOf(event, Date.now());
      const options = {
        method,
        headers,
        signal,
        ...tls,
        maxHeaderSize: MAX_HEADER_BYTES,
        agent: isFirst ? agent : new Agent(outgoing()),
      };
      let isAnswered = false;
      const sent = request(address, options, (response) => {
        isAnswered = true;
        waitUntil(new Promise((closed) => sent.once("close", closed)));
        drain(sent, response);
        onAnswer?.(wholeAnswer(response));
        const { statusCode = 0 } = response;
        const beginning = captureBeginning(response);
        const isSuccess = isSuccessful(statusCode);
        // A success does not wait for the body: only what arrived with the head is captured.
        if (isSuccess) process.nextTick(() => resolve({ status: statusCode, response: beginning.text() }));
        else void beginning.ended().then(() => reject(refusal(response, beginning.text())));
        // A target that refused the event need not read the rest of it.
        if (!isSuccess && !sent.writableFinished) sent.destroy();
      });
      sent.on("upgrade", (response, socket) => {
        socket.destroy();
        reject(refusal(response));
      });
      sent.on("error", (error) => {
        // The target closed an idle connection, and most likely has not seen the event.
        const isStale = sent.reusedSocket && !isAnswered && /^(?:ECONNRESET|EPIPE)$/.test(systemCode(error));
        const status = statusIn(error);
        if (isFirst && isStale) resolve(send(event, signal, waitUntil, onAnswer, false));
        else if (isAnswered) return;
        else if (isSuccessful(status)) resolve({ status });
        else reject(isOutOfDescriptors(error) ? error : unanswered(error, status));
      });
      sent.end(body);
    });
  }

  return {
    run: (event, signal, waitUntil = () => {}, onAnswer) => send(event, signal, waitUntil, onAnswer, true),
    target: url,
    // The settlement does not wait for a target that is slow to close the connection.
    endsWithSignal: false,
    close: async () => agent.destroy(),
  };
}

// With these the target is unavailable, whatever the event is.
const UNAVAILABLE = [429, 502, 503, 504];

const isSuccessful = (status: number) => status >= 200 && status < 300;

function unanswered(error: Error, status: number): TargetError {
  const what = isUnreadable(error) ? "the target's answer cannot be read" : "the target cannot be reached";
  if (status === 0) return new TargetError(what, { isUnavailable: true, cause: error });
  return answered(status);
}

function refusal({ statusCode = 0, headers }: IncomingMessage, response?: string): TargetError {
  return answered(statusCode, { retryAfterMs: readRetryAfter(headers["retry-after"], Date.now()), response });
}

const answered = (status: number, more: { retryAfterMs?: number | undefined; response?: string | undefined } = {}) =>
  new TargetError(`the target answered ${status}`, { isUnavailable: UNAVAILABLE.includes(status), status, ...more });

/**
 * Captures the first bytes of a response's body. `ended` is called at once or never. It resolves when they are
 * complete, or after {@link MAX_DRAIN_MS}.
 */
function captureBeginning(response: IncomingMessage): { ended(): Promise<void>; text(): string | undefined } {
  const chunks: Buffer[] = [];
  let bytes = 0;
  response.on("data", (chunk: Buffer) => {
    if (bytes < MAX_RESPONSE_BYTES) chunks.push(chunk);
    bytes += chunk.length;
  });
  return {
    ended: () =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, MAX_DRAIN_MS);
        const end = () => {
          clearTimeout(timer);
          resolve();
        };
        response.on("data", () => {
          if (bytes >= MAX_RESPONSE_BYTES) end();
        });
        response.on("end", end).on("close", end);
      }),
    text: () => decodeBeginning(Buffer.concat(chunks)),
  };
}

/** A response with its body, as far as {@link drain} lets it come. */
function wholeAnswer(response: IncomingMessage): Promise<HttpAnswer> {
  const chunks: Buffer[] = [];
  response.on("data", (chunk: Buffer) => chunks.push(chunk));
  return new Promise((resolve) => {
    response.once("close", () => {
      resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks), isWhole: response.complete });
    });
  });
}

/**
 * Reads and discards the rest of a response, within limits. A target may answer before it has read the event and then
 * stop reading: the limits free its connection and the payload.
 */
function drain(sent: ClientRequest, response: IncomingMessage): void {
  let bytes = 0;
  const destroy = () => sent.destroy();
  response.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_DRAINED_BYTES) destroy();
  });
  response.on("error", () => {});
  const limitResponse = () => {
    if (response.closed) return;
    const timer = setTimeout(destroy, MAX_DRAIN_MS).unref();
    response.on("close", () => clearTimeout(timer));
  };
  const { socket } = sent;
  if (sent.writableFinished || !socket) {
    limitResponse();
    return;
  }
  // The socket's time-out restarts whenever a part of the event has been sent.
  socket.setTimeout(MAX_DRAIN_MS).once("timeout", destroy);
  const timer = setTimeout(destroy, MAX_UPLOAD_MS).unref();
  sent.once("close", () => clearTimeout(timer));
  sent.once("finish", () => {
    clearTimeout(timer);
    socket.setTimeout(0).off("timeout", destroy);
    limitResponse();
  });
}
