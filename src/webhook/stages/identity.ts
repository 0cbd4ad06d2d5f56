import { hash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { DIGEST_PREFIX } from "../../events/event.ts";
import type { Content } from "../content/content.ts";
import { readSigned } from "../content/signed-reading.ts";
import type { Verified } from "../signature/bound-scheme.ts";
import { claimAt } from "../signature/jwt.ts";
import { headersOf, type Place } from "../signature/schemes.ts";
import type { Source } from "../source.ts";
import { invalid, textOf } from "./payload.ts";

/** The identity of a delivered event within its source. */
export interface Identity {
  eventId: string;
  /** Whether the signature covers the id. Anybody who has captured a delivery can change an unsigned id. */
  isSigned: boolean;
  /** The SHA-256 of the body, or of what is signed of it, in hex if that makes a duplicate; else null. */
  bytesSha256: string | null;
  /** For how long the same bytes are a duplicate, in ms. Null: the identity decides. */
  sameWithinMs: number | null;
  type: string;
  /** The `Content-Type` of the bytes, where they were sent under another one that cannot be read; else null. */
  contentType: string | null;
}

// Limits the size of the index. The ids and types of known senders are far shorter.
const MAX_ID_LENGTH = 512;
const MAX_TYPE_LENGTH = 256;

/** What an event is identified by. */
interface IdentifiedBy {
  source: Pick<Source, "id" | "type" | "preset" | "dedupe" | "contentTypes">;
  verified: Verified;
  headers: IncomingHttpHeaders;
  content: Content;
}

/**
 * Identifies a genuine delivery. Its id is in the first of the source's places that has one. Otherwise it is a signed
 * `webhook-id`; without a preset the body's `id`, if the body also has a `type`; an unsigned delivery header; or the
 * digest of the body. Throws `invalid_payload` if the id or the type cannot be stored.
 */
export function identify(sent: IdentifiedBy): Identity {
  const { contentTypes, dedupe } = sent.source;
  // Of a body that is not signed as a whole, the signature was read in the media type that was sent.
  const reading = sent.verified.covers.body ? readSigned(sent.content, contentTypes) : null;
  const delivery = reading ? { ...sent, content: reading.content } : sent;
  const id = idOf(delivery);
  const isSigned = id?.isSigned ?? false;
  const isById = id !== null && (isSigned || dedupe === "id");
  const sameWithinMs = dedupe === "off" ? 0 : typeof dedupe === "number" ? dedupe : null;
  const digest = () => delivery.verified.digest ?? hash("sha256", delivery.content.bytes);
  const isByBytes = sameWithinMs === null ? !isById : sameWithinMs > 0;
  const bytesSha256 = isByBytes ? digest() : null;
  const eventId = id?.text ?? `${DIGEST_PREFIX}${bytesSha256 ?? digest()}`;
  const type = typeOf(delivery);
  requireStorable("id", eventId, MAX_ID_LENGTH);
  requireStorable("type", type, MAX_TYPE_LENGTH);
  return { eventId, isSigned, bytesSha256, sameWithinMs, type, contentType: reading?.contentType ?? null };
}

interface Id {
  text: string;
  isSigned: boolean;
}

/** Returns the id of a delivery; null if it is the digest of the body. */
function idOf(delivery: IdentifiedBy): Id | null {
  // Anybody can remove or add what is not signed, so that another place would have the id.
  let isDecided = true;
  for (const place of delivery.source.id) {
    if (place === "bytes") return null;
    const places = typeof place === "string" ? [place] : place;
    const text = composed(places, delivery);
    isDecided &&= places.every((one) => isCovered(one, delivery));
    if (text !== undefined && (isDecided || !isReserved(text))) return { text, isSigned: isDecided };
  }
  return usualId(delivery, isDecided);
}

/** The id at one of the usual places. `isDecided`: only what is signed has kept it from the places of the source. */
function usualId({ source, verified, headers, content }: IdentifiedBy, isDecided: boolean): Id | null {
  const { covers } = verified;
  const signedHeader = covers.headers.find((name) => name === "webhook-id" || name === "svix-id");
  const signed = signedHeader && textOf(headers[signedHeader]);
  if (signed !== undefined) return { text: signed, isSigned: isDecided };
  // A provider's `id` is what its preset says. It may be that of the resource, which many events share.
  const id = source.preset === null ? textOf(content.lenientMember("id")) : undefined;
  const isEventShaped = id !== undefined && textOf(content.lenientMember("type")) !== undefined;
  const isSigned = isDecided && covers.body;
  if (isEventShaped && (isSigned || !isReserved(id))) return { text: id, isSigned };
  const ofGitHub = usesHubHeader(verified) ? textOf(headers["x-github-delivery"]) : undefined;
  const unsigned = ofGitHub ?? textOf(headers["x-request-id"]);
  return unsigned === undefined || isReserved(unsigned) ? null : { text: unsigned, isSigned: false };
}

/** The id or type at these places together; undefined if one is missing. Different parts never make the same text. */
function composed(places: readonly Place[], delivery: IdentifiedBy): string | undefined {
  const parts = places.map((place) => textAt(place, delivery));
  if (parts.length === 1) return parts[0];
  const isWhole = (part: string | undefined) => part !== undefined;
  return parts.every(isWhole) ? parts.map((part) => part.replace(/[%:]/g, encodeURIComponent)).join(":") : undefined;
}

/** Unsigned ids with the digest prefix are ignored, because they could be the id of another body. */
function isReserved(id: string): boolean {
  return id.startsWith(DIGEST_PREFIX);
}

function usesHubHeader({ scheme }: Verified): boolean {
  return headersOf(scheme).some((name) => name.startsWith("x-hub-"));
}

function typeOf(delivery: IdentifiedBy): string {
  const { source, headers, content } = delivery;
  for (const place of source.type) {
    const text = composed([place].flat(), delivery);
    if (text !== undefined) return text;
  }
  return (
    textOf(content.lenientMember("type")) ??
    textOf(headers["x-event-type"]) ??
    textOf(headers["x-github-event"]) ??
    "unknown"
  );
}

/** The text at a place. A number is written as text. */
function textAt(place: Place, { verified, headers, content }: IdentifiedBy): string | undefined {
  const [kind, name] = splitPlace(place);
  if (kind === "header") return textOf(headers[name]);
  const member = kind === "claim" ? claimAt(verified.claims ?? {}, name) : content.lenientMember(name);
  if (typeof member !== "number") return textOf(member);
  if (Number.isSafeInteger(member)) return String(member);
  return kind === "claim" ? undefined : content.longInteger(name);
}

/** Whether the signature covers a place. */
function isCovered(place: Place, { verified: { covers } }: IdentifiedBy): boolean {
  const [kind, name] = splitPlace(place);
  if (kind === "claim") return true;
  return kind === "header" ? covers.headers.includes(name) : covers.body || covers.members.includes(name);
}

function splitPlace(place: Place): [kind: string, name: string] {
  const colon = place.indexOf(":");
  return [place.slice(0, colon), place.slice(colon + 1)];
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
