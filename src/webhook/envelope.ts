import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { AppError } from "../errors.ts";
import { parseStrictJson } from "../strict-json.ts";

/** What identifies a delivered event within its source. */
export interface Identity {
  eventId: string;
  type: string;
}

// Longer ids and types would let a sender fill the index; none of the known senders comes near.
const MAX_ID_LENGTH = 512;
const MAX_TYPE_LENGTH = 256;

/** Parses a verified payload: a JSON object, and an envelope when it says so. Throws `invalid_payload`. */
export function parsePayload(body: Uint8Array): Record<string, unknown> {
  const parsed = parseStrictJson(body);
  if (!parsed.ok) throw invalid("", parsed.reason);
  const payload = parsed.value;
  if (typeof payload !== "object" || payload === null || Array.isArray(payload)) throw invalid("", "must be an object");
  if ("object" in payload && payload.object === "event") requireEnvelope(payload);
  return payload as Record<string, unknown>;
}

/** Checks the event envelope of the mission (Webhook delivery, Body). */
function requireEnvelope(payload: object): void {
  const { id, type, created, data, livemode } = payload as Record<string, unknown>;
  if (typeof id !== "string" || id === "") throw invalid("id", "must be a non-empty string");
  if (typeof type !== "string" || type === "") throw invalid("type", "must be a non-empty string");
  if (!Number.isSafeInteger(created)) throw invalid("created", "must be an integer");
  const resource = typeof data === "object" && data !== null ? (data as { object?: unknown }).object : undefined;
  if (typeof resource !== "object" || resource === null || Array.isArray(resource)) {
    throw invalid("data.object", "must be an object");
  }
  if (typeof livemode !== "boolean") throw invalid("livemode", "must be a boolean");
}

/**
 * Identifies an event: the body's `id` when the body is event-shaped (string `id` and `type`), else the sender's
 * delivery header, else the body's `id`, else a digest of the bytes.
 */
export function identify(headers: IncomingHttpHeaders, payload: Record<string, unknown>, body: Uint8Array): Identity {
  const bodyId = textOf(payload.id);
  const bodyType = textOf(payload.type);
  const eventId =
    (bodyId && bodyType ? bodyId : undefined) ??
    textOf(headers["webhook-id"]) ??
    textOf(headers["x-github-delivery"]) ??
    textOf(headers["x-request-id"]) ??
    bodyId ??
    `sha256:${createHash("sha256").update(body).digest("hex")}`;
  const type = textOf(headers["x-event-type"]) ?? textOf(headers["x-github-event"]) ?? bodyType ?? "unknown";
  // Ill-formed ids that differ would be one and the same in UTF-8.
  if (!eventId.isWellFormed()) throw invalid("id", "must be well-formed Unicode");
  if (!type.isWellFormed()) throw invalid("type", "must be well-formed Unicode");
  if (eventId.length > MAX_ID_LENGTH) throw invalid("id", `must have at most ${MAX_ID_LENGTH} characters`);
  if (type.length > MAX_TYPE_LENGTH) throw invalid("type", `must have at most ${MAX_TYPE_LENGTH} characters`);
  return { eventId, type };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function invalid(path: string, message: string): AppError {
  return new AppError("invalid_payload", { errors: [{ path, message }] });
}
