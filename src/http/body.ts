import type { IncomingMessage, ServerResponse } from "node:http";
import * as v from "valibot";
import { AppError, type ErrorCode, type FieldError, fieldError } from "../errors.ts";
import { BodyBuffer } from "../lib/body-buffer.ts";
import { requireMediaType } from "../lib/body-headers.ts";
import { parseStrictJson } from "../lib/json.ts";

// A client may read the response only after it has sent its body. So the rest of a refused body is read and discarded,
// up to these limits if it may never end.
const MAX_DISCARDED_BYTES = 64 * 1024 * 1024;
const MAX_DISCARD_MS = 3000;

/** Throws `unsupported_media_type` unless the request has one Content-Type, JSON in UTF-8, and no Content-Encoding. */
export function requireJson(request: IncomingMessage): void {
  requireMediaType(request, JSON_ONLY);
}

const JSON_ONLY = ["application/json"];

/** Requests whose senders wait for `100 Continue` before they send the body (RFC 9110, 10.1.1). */
const awaitingContinue = new WeakMap<IncomingMessage, ServerResponse>();

/** Delays `100 Continue` until the body is read. A request that is refused before that never gets it. */
export function deferContinue(request: IncomingMessage, response: ServerResponse): void {
  awaitingContinue.set(request, response);
}

/** Sends the `100 Continue` that the sender of a body waits for, if it still does. */
function allowBody(request: IncomingMessage): void {
  if (request.headers.expect === undefined) return;
  awaitingContinue.get(request)?.writeContinue();
  awaitingContinue.delete(request);
}

/** Requests whose body was aborted, with the code that reading it throws. */
const aborted = new WeakMap<IncomingMessage, ErrorCode>();

/** Makes reading the body of a request throw this code. */
export function abortBody(request: IncomingMessage, code: ErrorCode): void {
  aborted.set(request, code);
}

function abortError(request: IncomingMessage): AppError {
  return new AppError(aborted.get(request) ?? "bad_request");
}

/**
 * Reads the body as raw bytes. Throws `payload_too_large` as soon as more than `limitBytes` is announced or received.
 * Throws `queue_full` when unfinished bodies take too much memory, in total or from the sender's network.
 */
export function readRawBody(request: IncomingMessage, limitBytes: number, address = ""): Promise<Buffer> {
  const expected = Number(request.headers["content-length"] ?? limitBytes);
  if (expected > limitBytes)
    return Promise.reject(new AppError("payload_too_large", { reason: "content_length", sent: String(expected) }));
  if (request.destroyed) return Promise.reject(abortError(request));
  allowBody(request);
  return request.complete
    ? readReceivedBody(request, limitBytes)
    : collectBody(request, limitBytes, new BodyBuffer(expected, address));
}

/**
 * Reads a body that was received completely, as for nearly all deliveries. Stream events would cost more than all the
 * rest.
 */
async function readReceivedBody(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  if (request.readableLength > limitBytes) throw new AppError("payload_too_large");
  // Without a size, Node returns the first chunk only.
  return (request.read(request.readableLength) as Buffer | null) ?? Buffer.alloc(0);
}

function collectBody(request: IncomingMessage, limitBytes: number, bytes: BodyBuffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const refuse = (error: unknown) => {
      bytes.drop();
      request.off("data", onData).pause();
      reject(error);
    };
    const onData = (chunk: Buffer) => {
      try {
        bytes.add(chunk);
        if (bytes.size > limitBytes) refuse(new AppError("payload_too_large"));
      } catch (error) {
        refuse(error);
      }
    };
    const onEnd = () => resolve(bytes.take());
    const onClose = () => {
      bytes.drop();
      if (!request.readableEnded) reject(abortError(request));
    };
    request.on("data", onData).on("end", onEnd).on("error", onClose).on("close", onClose);
  });
}

/**
 * Reads and discards the rest of a refused body, until the request timeout. If the body is too large, or its sender
 * still waits for `100 Continue`, the connection is destroyed after a shorter limit. Calls `onClose` when the request
 * closes.
 */
export function discardBody(request: IncomingMessage, isTooLarge: boolean, onClose: () => void): void {
  let discarded = 0;
  const destroy = () => request.socket.destroy();
  const mayNotEnd = isTooLarge || awaitingContinue.has(request);
  const timer = mayNotEnd ? setTimeout(destroy, MAX_DISCARD_MS).unref() : undefined;
  request.on("data", (chunk: Buffer) => {
    discarded += chunk.length;
    if (mayNotEnd && discarded > MAX_DISCARDED_BYTES) destroy();
  });
  request.on("error", () => {});
  request.on("close", () => {
    clearTimeout(timer);
    onClose();
  });
  request.resume();
}

/**
 * Reads a JSON body and validates it. Throws `unsupported_media_type`, `payload_too_large`, `malformed_json`, or
 * `validation_failed` with the names of the fields, never their values.
 */
export async function readJson<Schema extends v.ObjectSchema<v.ObjectEntries, undefined>>(
  request: IncomingMessage,
  schema: Schema,
  limitBytes: number,
): Promise<v.InferOutput<Schema>> {
  requireJson(request);
  const parsed = parseStrictJson(await readRawBody(request, limitBytes));
  if (!parsed.ok) throw new AppError("malformed_json", { errors: [{ path: "", message: parsed.reason }] });
  if (typeof parsed.value !== "object" || parsed.value === null || Array.isArray(parsed.value)) {
    throw fieldError("", "must be an object");
  }
  const result = v.safeParse(schema, parsed.value);
  const errors = fieldErrorsOf(schema, Object.keys(parsed.value), result.issues);
  if (!result.success || errors.length > 0) throw new AppError("validation_failed", { errors });
  return result.output;
}

/** The faults of an object's members: those that the schema does not know, and the issues that it has found. */
export function fieldErrorsOf(
  schema: v.ObjectSchema<v.ObjectEntries, undefined>,
  names: readonly string[],
  issues: readonly v.BaseIssue<unknown>[] = [],
): FieldError[] {
  // Valibot's own check skips some names, e.g. `__proto__`, and reports only the first unknown one.
  const unknown = names.filter((name) => !Object.hasOwn(schema.entries, name));
  return [
    ...unknown.slice(0, MAX_UNKNOWN).map((path) => ({ path, message: "is not a known property" })),
    ...issues.map(toFieldError),
  ];
}

// A body may have thousands of unknown members. The response must not become larger than the body.
const MAX_UNKNOWN = 20;

function toFieldError(issue: v.BaseIssue<unknown>): FieldError {
  return { path: v.getDotPath(issue) ?? "", message: issue.type === "object" ? "is required" : issue.message };
}

/**
 * Refuses a body for an operation that takes none; an empty body and `{}` are accepted. Throws `validation_failed`, or
 * `unsupported_media_type` when the body is not JSON.
 */
export async function refuseBody(request: IncomingMessage): Promise<void> {
  const { "content-length": length = "0", "transfer-encoding": encoding } = request.headers;
  if (length === "0" && encoding === undefined) return;
  const body = await readRawBody(request, 1024);
  if (body.length === 0) return;
  requireJson(request);
  if (!/^[ \t\r\n]*(?:\{[ \t\r\n]*\}[ \t\r\n]*)?$/.test(body.toString("latin1"))) {
    throw fieldError("", "must be empty");
  }
}

/**
 * Copies the body of a request while it arrives, whoever reads it, and also one that its sender sends only after `100
 * Continue`. Call in the turn in which Node hands over the request. `take` returns the part of a chunk to keep, or null
 * to drop the copy. Returns a function that returns the copy so far; null if it was dropped.
 */
export function copyBody(request: IncomingMessage, take: (chunk: Buffer) => Buffer | null): () => Buffer | null {
  let chunks: Buffer[] | null = [];
  const push = request.push;
  // Not by the event `data`, whose listener would take the body from the handler.
  request.push = (chunk: Buffer | null, encoding) => {
    if (chunk !== null && chunks !== null) {
      const part = take(chunk);
      if (part === null) chunks = null;
      else chunks.push(part);
    }
    return push.call(request, chunk, encoding);
  };
  allowBody(request);
  return () => chunks && Buffer.concat(chunks);
}
