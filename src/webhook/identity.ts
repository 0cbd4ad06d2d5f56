import { hash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { AppError } from "../errors.ts";
import { parseStrictJson } from "../lib/strict-json.ts";

/** What identifies a delivered event within its source. */
export interface Identity {
  eventId: string;
  type: string;
}

// Longer ids and types would let a sender fill the index; none of the known senders comes near.
const MAX_ID_LENGTH = 512;
const MAX_TYPE_LENGTH = 256;

/** What a payload says of itself, where these are non-empty texts. */
export interface Payload {
  id: string | undefined;
  type: string | undefined;
}

/** Reads a verified payload: a JSON object, and an envelope when it says so. Throws `invalid_payload`. */
export function readPayload(body: Buffer): Payload {
  const parsed = parseStrictJson(body);
  if (!parsed.ok) throw invalid("", parsed.reason);
  const { value } = parsed;
  if (!isObject(value)) throw invalid("", "must be an object");
  const payload = { id: textOf(value.id), type: textOf(value.type) };
  if (value.object === "event") requireEnvelope(payload, value);
  return payload;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Checks a payload with `"object": "event"`: it must have every member of Stripe's envelope or, when it was created at
 * `created_at`, of OpenAI's (https://platform.openai.com/docs/api-reference/webhook-events).
 */
function requireEnvelope({ id, type }: Payload, body: Record<string, unknown>): void {
  if (id === undefined) throw invalid("id", "must be a non-empty string");
  if (type === undefined) throw invalid("type", "must be a non-empty string");
  if (body.created_at !== undefined && body.created === undefined) {
    if (!Number.isSafeInteger(body.created_at)) throw invalid("created_at", "must be an integer");
    if (!isObject(body.data)) throw invalid("data", "must be an object");
    return;
  }
  if (!Number.isSafeInteger(body.created)) throw invalid("created", "must be an integer");
  if (!isObject(body.data) || !isObject(body.data.object)) throw invalid("data.object", "must be an object");
  if (typeof body.livemode !== "boolean") throw invalid("livemode", "must be a boolean");
}

/**
 * Identifies an event: the body's `id` when the body is event-shaped (string `id` and `type`), else the sender's
 * delivery header, else the body's `id`, else a digest of the bytes.
 */
export function identify(headers: IncomingHttpHeaders, payload: Payload, body: Buffer): Identity {
  const eventId =
    (payload.type === undefined ? undefined : payload.id) ??
    textOf(headers["webhook-id"]) ??
    textOf(headers["x-github-delivery"]) ??
    textOf(headers["x-request-id"]) ??
    payload.id ??
    `sha256:${hash("sha256", body)}`;
  const type = textOf(headers["x-event-type"]) ?? textOf(headers["x-github-event"]) ?? payload.type ?? "unknown";
  // Ill-formed ids that differ would be one and the same in UTF-8.
  if (!eventId.isWellFormed()) throw invalid("id", "must be well-formed Unicode");
  if (!type.isWellFormed()) throw invalid("type", "must be well-formed Unicode");
  if (isLonger(eventId, MAX_ID_LENGTH)) throw invalid("id", `must have at most ${MAX_ID_LENGTH} characters`);
  if (isLonger(type, MAX_TYPE_LENGTH)) throw invalid("type", `must have at most ${MAX_TYPE_LENGTH} characters`);
  return { eventId, type };
}

/** In characters, of which one takes one or two units of a string. */
function isLonger(text: string, max: number): boolean {
  return text.length > max && (text.length > 2 * max || [...text].length > max);
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function invalid(path: string, message: string): AppError {
  return new AppError("invalid_payload", { errors: [{ path, message }] });
}
