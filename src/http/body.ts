import type { IncomingMessage, ServerResponse } from "node:http";
import * as v from "valibot";
import { AppError, type ErrorCode, type FieldError } from "../errors.ts";
import { parseStrictJson } from "../lib/strict-json.ts";
import { BodyBytes } from "./body-bytes.ts";
import { headerValues } from "./headers.ts";

// What is still read and thrown away of a body that may never end, so that the answer reaches a client that is busy sending.
const REST_BYTES = 64 * 1024 * 1024;
const REST_MS = 3000;

const MAX_TYPE_LENGTH = 256;

/** Throws `unsupported_media_type` unless the request announces, once, JSON in UTF-8 without Content-Encoding. */
export function requireJson(request: IncomingMessage): void {
  const { "content-encoding": encoding, "content-type": announced = "" } = request.headers;
  if (headerValues(request.rawHeaders, "content-type").length > 1) throw new AppError("unsupported_media_type");
  if (announced === "application/json" && encoding === undefined) return;
  // Bounds the work for a client that has proved nothing yet.
  if (announced.length > MAX_TYPE_LENGTH) throw new AppError("unsupported_media_type");
  const [type = "", ...parameters] = announced.split(";").map((part) =>
    part
      .replace(/^[ \t]+|[ \t]+$/g, "")
      .replace(/[ \t]*=[ \t]*/, "=")
      .toLowerCase(),
  );
  const charsets = parameters.filter((parameter) => parameter.startsWith("charset="));
  const isUtf8 = charsets.every((charset) => /^charset=(?:utf-?8|"utf-?8")$/.test(charset));
  if (type !== "application/json" || !isUtf8 || encoding !== undefined) throw new AppError("unsupported_media_type");
}

/** Requests whose senders wait for `100 Continue` before they send the body (RFC 9110, 10.1.1). */
const waiting = new WeakMap<IncomingMessage, ServerResponse>();

/** Notes that a sender waits for `100 Continue`: it gets it when the body is read, never when the request is refused before. */
export function awaitReading(request: IncomingMessage, response: ServerResponse): void {
  waiting.set(request, response);
}

function inviteBody(request: IncomingMessage): void {
  if (request.headers.expect === undefined) return;
  waiting.get(request)?.writeContinue();
  waiting.delete(request);
}

/** Requests whose body will not come to its end, and what their senders are told. */
const broken = new WeakMap<IncomingMessage, ErrorCode>();

/** Says why a body will not come to its end: whoever reads it gets this code. */
export function breakOff(request: IncomingMessage, code: ErrorCode): void {
  broken.set(request, code);
}

function goneError(request: IncomingMessage): AppError {
  return new AppError(broken.get(request) ?? "bad_request");
}

/**
 * Reads the body as the bytes that were sent.
 * Throws `payload_too_large` as soon as more than `limitBytes` is announced or has come, and `queue_full` when too much is
 * coming on all connections together, or from the sender's address.
 */
export function readRawBody(request: IncomingMessage, limitBytes: number, address = ""): Promise<Buffer> {
  const expected = Number(request.headers["content-length"] ?? limitBytes);
  if (expected > limitBytes) return Promise.reject(new AppError("payload_too_large"));
  if (request.destroyed) return Promise.reject(goneError(request));
  inviteBody(request);
  return request.complete
    ? takeBody(request, limitBytes)
    : awaitBody(request, limitBytes, new BodyBytes(expected, address));
}

/** Takes a body that has come whole. Nearly every delivery has, and events for its pieces cost more than all else of it here. */
async function takeBody(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  if (request.readableLength > limitBytes) throw new AppError("payload_too_large");
  // Without a size it would be the first piece alone.
  return (request.read(request.readableLength) as Buffer | null) ?? Buffer.alloc(0);
}

function awaitBody(request: IncomingMessage, limitBytes: number, bytes: BodyBytes): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const refuse = (error: unknown) => {
      bytes.drop();
      request.off("data", onData).pause();
      reject(error);
    };
    const onData = (piece: Buffer) => {
      try {
        bytes.add(piece);
        if (bytes.size > limitBytes) refuse(new AppError("payload_too_large"));
      } catch (error) {
        refuse(error);
      }
    };
    const onEnd = () => resolve(bytes.take());
    const onGone = () => {
      bytes.drop();
      if (!request.readableEnded) reject(goneError(request));
    };
    request.on("data", onData).on("end", onEnd).on("error", onGone).on("close", onGone);
  });
}

/**
 * Lets the rest of a body run out that nobody wants, for as long as a request may take. One that is too large, or that
 * its sender may wait with until it is invited, is cut off when it does not end soon. `onOver` is told of the end of the
 * body, and of the connection.
 */
export function discardRest(request: IncomingMessage, isTooLarge: boolean, onOver: () => void): void {
  let discarded = 0;
  const cut = () => request.socket.destroy();
  const mayNotEnd = isTooLarge || waiting.has(request);
  const timer = mayNotEnd ? setTimeout(cut, REST_MS).unref() : undefined;
  request.on("data", (chunk: Buffer) => {
    discarded += chunk.length;
    if (mayNotEnd && discarded > REST_BYTES) cut();
  });
  request.on("error", () => {});
  request.on("close", () => {
    clearTimeout(timer);
    onOver();
  });
  request.resume();
}

/**
 * Reads a JSON body of a declared shape. Throws `unsupported_media_type`, `payload_too_large`, `malformed_json`, or
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
    throw new AppError("validation_failed", { errors: [{ path: "", message: "must be an object" }] });
  }
  // The library's own check passes over some names, e.g. `__proto__`, and tells of the first one only.
  const unknown = Object.keys(parsed.value).filter((name) => !Object.hasOwn(schema.entries, name));
  const result = v.safeParse(schema, parsed.value);
  if (result.success && unknown.length === 0) return result.output;
  const errors = [
    ...unknown.slice(0, MAX_UNKNOWN).map((path) => ({ path, message: "is not a known property" })),
    ...(result.issues ?? []).map(toFieldError),
  ];
  throw new AppError("validation_failed", { errors });
}

// A body may hold thousands of them, and the answer would be larger than it.
const MAX_UNKNOWN = 20;

function toFieldError(issue: v.BaseIssue<unknown>): FieldError {
  return { path: v.getDotPath(issue) ?? "", message: issue.type === "object" ? "is required" : issue.message };
}

/**
 * Throws `validation_failed` when an operation without a body is sent one, `unsupported_media_type` when it is not even
 * JSON; `{}` and nothing are the same.
 */
export async function refuseBody(request: IncomingMessage): Promise<void> {
  const { "content-length": length = "0", "transfer-encoding": encoding } = request.headers;
  if (length === "0" && encoding === undefined) return;
  const body = await readRawBody(request, 1024);
  if (body.length === 0) return;
  requireJson(request);
  if (!/^[ \t\r\n]*(?:\{[ \t\r\n]*\}[ \t\r\n]*)?$/.test(body.toString("latin1"))) {
    throw new AppError("validation_failed", { errors: [{ path: "", message: "must be empty" }] });
  }
}
