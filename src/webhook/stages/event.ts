import type { IncomingHttpHeaders } from "node:http";
import type { NewEvent } from "../../events/store.ts";
import type { Content } from "../content/content.ts";
import { redactedHeaders, requireRedacted } from "../content/redact.ts";
import { storedHeaders } from "../content/stored-headers.ts";
import type { Verified } from "../signature/bound-scheme.ts";
import { headersOf } from "../signature/schemes.ts";
import type { Source } from "../source.ts";
import { type Identity, identify } from "./identity.ts";

/** What a genuine delivery brings, as it is read and stored. */
interface Brought {
  headers: IncomingHttpHeaders;
  payload: Content;
  verified: Verified;
}

/** An identified event, with what of its delivery is stored. */
interface IdentifiedEvent extends Identity {
  stored: Pick<NewEvent, "contentType" | "payload" | "headers">;
}

/** Identifies a genuine delivery. Throws `invalid_payload` if that fails, or if what is stored cannot be redacted. */
export function identifiedEvent(source: Source, { headers, payload: content, verified }: Brought): IdentifiedEvent {
  const identity = identify({ source, verified, headers, content });
  const contentType = (identity.contentType ?? content.contentType) || "application/octet-stream";
  const kept = requireRedacted(source, content, contentType);
  const own = storedHeaders(headers, ownHeaders(source));
  const stored = {
    contentType,
    payload: kept.bytes,
    headers: source.redact ? redactedHeaders(own, kept) : own,
  };
  return { ...identity, stored };
}

/**
 * The event of a genuine delivery. `receivedAt` is in Unix milliseconds. Throws what {@link identifiedEvent} throws.
 */
export function eventOf(source: Source, delivery: Brought & { address: string; receivedAt: number }): NewEvent {
  const { eventId, type, bytesSha256, sameWithinMs, stored } = identifiedEvent(source, delivery);
  const { address, receivedAt, verified } = delivery;
  return {
    source: source.name,
    eventId,
    type,
    bytesSha256,
    sameWithinMs,
    secret: verified.secret.name,
    contentType: stored.contentType,
    payload: stored.payload,
    address,
    headers: stored.headers,
    receivedAt,
  };
}

// What is stored is the decoded body.
const OF_ENCODED = ["content-encoding", "content-length"];

const known = new WeakMap<Source, ReadonlySet<string>>();

function ownHeaders(source: Source): ReadonlySet<string> {
  const own =
    known.get(source) ?? new Set([...source.schemes.flatMap(headersOf), ...(source.encoding ? OF_ENCODED : [])]);
  known.set(source, own);
  return own;
}
