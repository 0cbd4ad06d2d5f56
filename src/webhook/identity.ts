import { hash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { AppError } from "../errors.ts";
import { DIGEST_PREFIX } from "../events/event.ts";
import { isObject, parseStrictJson } from "../lib/strict-json.ts";
import type { Verified } from "./signature.ts";

/** The identity of a delivered event within its source. */
export interface Identity {
  eventId: string;
  /**
   * The SHA-256 of the body in hex if the signature does not cover the id; else null. Anybody who has captured a delivery
   * can change an unsigned id.
   */
  bytesSha256: string | null;
  type: string;
}

// Limits the size of the index. The ids and types of known senders are far shorter.
const MAX_ID_LENGTH = 512;
const MAX_TYPE_LENGTH = 256;

/** The `id` and `type` of a payload, if they are non-empty texts. */
export interface Payload {
  id: string | undefined;
  type: string | undefined;
}

/** Reads a verified payload, a JSON object. With `"object": "event"` it must be an envelope. Throws `invalid_payload`. */
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
 * Checks the envelope of a payload with `"object": "event"`. With `created_at` and no `created` it is OpenAI's
 * (https://platform.openai.com/docs/api-reference/webhook-events), otherwise Stripe's.
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
 * Identifies a genuine delivery. Signed ids come first: a signed `webhook-id`, then the body's `id` if the body also has a
 * `type`. Otherwise the id is the sender's delivery header, or else a digest of the body. Throws `invalid_payload` if the id
 * or the type cannot be stored.
 */
export function identify(verified: Verified, headers: IncomingHttpHeaders, payload: Payload, body: Buffer): Identity {
  const signedId = signedIdOf(verified, headers, payload);
  const bytesSha256 = signedId === undefined ? hash("sha256", body) : null;
  const eventId = signedId ?? unsignedIdOf(verified, headers) ?? `${DIGEST_PREFIX}${bytesSha256}`;
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
 * Returns the unsigned id of a delivery: GitHub's if its signature verified, else `x-request-id`. Ids with the digest
 * prefix are ignored, because they could be the id of another body.
 */
function unsignedIdOf({ scheme }: Verified, headers: IncomingHttpHeaders): string | undefined {
  const ofGitHub = scheme.header.startsWith("x-hub-") ? textOf(headers["x-github-delivery"]) : undefined;
  const id = ofGitHub ?? textOf(headers["x-request-id"]);
  return id?.startsWith(DIGEST_PREFIX) ? undefined : id;
}

function requireStorable(path: string, text: string, maxLength: number): void {
  // Different ill-formed texts can become the same text in UTF-8.
  if (!text.isWellFormed()) throw invalid(path, "must be well-formed Unicode");
  if (text.includes("\0")) throw invalid(path, "must not hold U+0000");
  if (isLonger(text, maxLength)) throw invalid(path, `must have at most ${maxLength} characters`);
}

/** Compares the number of characters. A character takes one or two UTF-16 units. */
function isLonger(text: string, max: number): boolean {
  return text.length > max && (text.length > 2 * max || [...text].length > max);
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function invalid(path: string, message: string): AppError {
  return new AppError("invalid_payload", { errors: [{ path, message }] });
}
