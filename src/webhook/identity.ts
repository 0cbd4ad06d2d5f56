import { hash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { AppError } from "../errors.ts";
import { DIGEST_PREFIX } from "../events/event.ts";
import { isObject, parseStrictJson } from "../lib/strict-json.ts";
import type { Verified } from "./signature.ts";

/** What identifies a delivered event within its source. */
export interface Identity {
  eventId: string;
  /**
   * The SHA-256 of the body in hex where the signature does not cover the id, which anybody may then put on a captured
   * body; else null.
   */
  bytesSha256: string | null;
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
 * Identifies a genuine delivery. What the signature covers goes first: `webhook-id` where it is signed, then the body's `id`
 * when the body is event-shaped (string `id` and `type`). Else the sender's delivery header names the event, or a digest
 * of its bytes. Throws `invalid_payload` of an id or a type that cannot be kept.
 */
export function identify(verified: Verified, headers: IncomingHttpHeaders, payload: Payload, body: Buffer): Identity {
  const signedId = signedIdOf(verified, headers, payload);
  const bytesSha256 = signedId === undefined ? hash("sha256", body) : null;
  const eventId = signedId ?? nameOf(verified, headers) ?? `${DIGEST_PREFIX}${bytesSha256}`;
  const type = payload.type ?? textOf(headers["x-event-type"]) ?? textOf(headers["x-github-event"]) ?? "unknown";
  requireStorable("id", eventId, MAX_ID_LENGTH);
  requireStorable("type", type, MAX_TYPE_LENGTH);
  return { eventId, bytesSha256, type };
}

function signedIdOf(
  { signedHeaders }: Verified,
  headers: IncomingHttpHeaders,
  { id, type }: Payload,
): string | undefined {
  const [name] = signedHeaders;
  return (name === undefined ? undefined : textOf(headers[name])) ?? (type === undefined ? undefined : id);
}

/**
 * The unsigned name of a delivery: GitHub's own where its signature verified. None may look like the id that other bytes
 * would get.
 */
function nameOf({ scheme }: Verified, headers: IncomingHttpHeaders): string | undefined {
  const ofGitHub = scheme.header.startsWith("x-hub-") ? textOf(headers["x-github-delivery"]) : undefined;
  const name = ofGitHub ?? textOf(headers["x-request-id"]);
  return name?.startsWith(DIGEST_PREFIX) ? undefined : name;
}

function requireStorable(path: string, text: string, maxLength: number): void {
  // Ill-formed texts that differ would be one and the same in UTF-8.
  if (!text.isWellFormed()) throw invalid(path, "must be well-formed Unicode");
  if (text.includes("\0")) throw invalid(path, "must not hold U+0000");
  if (isLonger(text, maxLength)) throw invalid(path, `must have at most ${maxLength} characters`);
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
