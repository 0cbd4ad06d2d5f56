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
import { trustSystemAuthorities } from "../../lib/system-authorities.ts";
import { type EventHandler, isOutOfDescriptors, type KeepPlace, TargetError } from "../run.ts";

// What of an answer's body is waited for, so that the next event finds the connection free.
const MAX_DRAINED_BYTES = 64 * 1024;
const MAX_DRAIN_MS = 1000;
// What is kept of it, to be shown.
const MAX_KEPT_BYTES = 1024;
// A target that has accepted an event may read the rest of it in this time.
const MAX_REST_MS = 30_000;

/**
 * Forwards each event to a URL: its raw bytes and content type, with its identity in headers. Any 2xx answer is success.
 * Redirects are not followed: they would carry the payload to a place nobody configured.
 *
 * With Node's client and not with `fetch`, which gives up after five minutes and refuses some ports.
 */
export function createHttpHandler(url: string): EventHandler {
  const target = new URL(url);
  const isTls = target.protocol === "https:";
  if (isTls) trustSystemAuthorities();
  const agent = isTls ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true });
  const request = isTls ? requestHttps : requestHttp;

  /** `isFirst` goes over a connection that may be an old one. */
  function send(
    event: ClaimedJob,
    signal: AbortSignal,
    keepPlace: KeepPlace,
    isFirst: boolean,
  ): Promise<string | undefined> {
    return new Promise((resolve, reject) => {
      const options = {
        method: "POST",
        headers: headersOf(event),
        signal,
        ...(isFirst ? { agent } : { agent: false }),
      };
      let isAnswered = false;
      const sent = request(target, options, (response) => {
        isAnswered = true;
        keepPlace(new Promise((closed) => sent.once("close", closed)));
        finish(sent, response);
        const { statusCode = 0 } = response;
        const beginning = keepBeginning(response);
        const isSuccess = statusCode >= 200 && statusCode < 300;
        // A success waits for nothing: what came with its head is kept.
        if (isSuccess) setImmediate(() => resolve(beginning.text()));
        else void beginning.ended.then(() => reject(refusal(response, beginning.text())));
        // It may read the rest of the event as slowly as it likes.
        if (!isSuccess && !sent.writableFinished) sent.destroy();
      });
      sent.on("upgrade", (response, socket) => {
        socket.destroy();
        reject(refusal(response));
      });
      sent.on("error", (error) => {
        // The target closed a connection that was kept for later, and has most likely never seen the event.
        const isStale = sent.reusedSocket && !isAnswered && /^(?:ECONNRESET|EPIPE)$/.test(systemCode(error));
        if (isFirst && isStale) resolve(send(event, signal, keepPlace, false));
        else if (!isAnswered) reject(isOutOfDescriptors(error) ? error : unreachable(error));
      });
      sent.end(event.payload);
    });
  }

  return (event, signal, keepPlace = () => {}) => send(event, signal, keepPlace, true);
}

// The target cannot work now, whatever the event is.
const UNAVAILABLE = [429, 502, 503, 504];

function unreachable(error: Error): TargetError {
  return new TargetError("the target cannot be reached", { isUnavailable: true, cause: error });
}

function refusal({ statusCode = 0, headers }: IncomingMessage, response?: string): TargetError {
  const isUnavailable = UNAVAILABLE.includes(statusCode);
  const retryAfterMs = readRetryAfter(headers["retry-after"], Date.now());
  return new TargetError(`the target answered ${statusCode}`, { isUnavailable, retryAfterMs, response });
}

/** Keeps the first bytes of an answer's body. `ended` resolves when there are no more of them, or none come in time. */
function keepBeginning(response: IncomingMessage): { ended: Promise<void>; text(): string | undefined } {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const ended = new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, MAX_DRAIN_MS);
    const end = () => {
      clearTimeout(timer);
      resolve();
    };
    response.on("data", (chunk: Buffer) => {
      if (bytes < MAX_KEPT_BYTES) chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= MAX_KEPT_BYTES) end();
    });
    response.on("end", end).on("close", end);
  });
  return {
    ended,
    text() {
      const kept = Buffer.concat(chunks).subarray(0, MAX_KEPT_BYTES);
      // Without what is left of a character that was cut.
      return kept.length === 0 ? undefined : new TextDecoder().decode(kept, { stream: true });
    },
  };
}

/** The milliseconds of a `Retry-After` (RFC 9110, 10.2.3): seconds or a date; undefined when it is neither. */
function readRetryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^[0-9]{1,9}$/.test(value)) return Number(value) * 1000;
  const time = Date.parse(value);
  return Number.isNaN(time) ? undefined : Math.max(0, time - now);
}

function headersOf(event: ClaimedJob): OutgoingHttpHeaders {
  return {
    "Content-Type": event.contentType,
    "Content-Length": event.payload.length,
    "User-Agent": "authserve",
    "Idempotency-Key": headerSafe(event.eventId),
    "X-Event-Id": headerSafe(event.eventId),
    "X-Event-Type": headerSafe(event.type),
    "X-Event-Source": event.source,
    "X-Attempt": String(event.attempt),
  };
}

/**
 * Reads what is left of an answer, within bounds. A target that answers before it has read the event, and then does not
 * read on, must not keep the connection and the payload.
 */
function finish(sent: ClientRequest, response: IncomingMessage): void {
  let bytes = 0;
  const breakOff = () => sent.destroy();
  response.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_DRAINED_BYTES) breakOff();
  });
  response.on("error", () => {});
  const boundAnswer = () => {
    if (response.closed) return;
    const timer = setTimeout(breakOff, MAX_DRAIN_MS).unref();
    response.on("close", () => clearTimeout(timer));
  };
  const { socket } = sent;
  if (sent.writableFinished || !socket) {
    boundAnswer();
    return;
  }
  // The socket's own, which starts again whenever some of the event has gone out.
  socket.setTimeout(MAX_DRAIN_MS).once("timeout", breakOff);
  const timer = setTimeout(breakOff, MAX_REST_MS).unref();
  sent.once("close", () => clearTimeout(timer));
  sent.once("finish", () => {
    clearTimeout(timer);
    socket.setTimeout(0).off("timeout", breakOff);
    boundAnswer();
  });
}

/** Header values are printable ASCII. Any other id is percent-encoded, and so is one with a percent sign: keys stay unique. */
function headerSafe(text: string): string {
  return /^[\x21-\x7e]+$/.test(text) && !text.includes("%") ? text : encodeURIComponent(text.toWellFormed());
}
