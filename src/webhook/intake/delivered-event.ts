import type { IncomingHttpHeaders } from "node:http";
import type { NewEvent } from "../../events/store.ts";
import type { Verified } from "../signature/bound-scheme.ts";
import { headersOf } from "../signature/schemes.ts";
import type { Source } from "../source.ts";
import type { Content } from "./content.ts";
import { identify } from "./identity.ts";

/** A verified delivery. `receivedAt` is in Unix milliseconds. */
interface VerifiedDelivery {
  source: Source;
  verified: Verified;
  headers: IncomingHttpHeaders;
  content: Content;
  address: string;
  receivedAt: number;
}

/** The event of a verified delivery. Throws `invalid_payload` if its id or type cannot be stored. */
export function eventOf({ source, verified, headers, content, address, receivedAt }: VerifiedDelivery): NewEvent {
  const identity = identify({ source, verified, headers, content });
  const { eventId, bytesSha256, sameWithinMs, type } = identity;
  return {
    source: source.name,
    eventId,
    type,
    bytesSha256,
    sameWithinMs,
    secret: verified.secret.name,
    contentType: identity.contentType ?? headers["content-type"] ?? (content.mediaType || "application/octet-stream"),
    payload: content.bytes,
    address,
    headers: storedHeaders(headers, ownHeaders(source)),
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

// Headers that are not stored: signatures, cookies, credentials, keys, tokens, secrets, passwords, and addresses, whose
// query may have them. The specific names are those of senders, and of proxies that log users in.
const CONFIDENTIAL =
  /signature|cookie|credential|authorization|key|token|secret|pass|hmac|mac$|^x-hub-|^x-trello-webhook$|(?:^|-)(?:sig|auth|jwt|oidc)(?:-|$)|^referer$|^x-original-ur[il]$|^x-forwarded-uri$|-unencoded-url$|^verif-hash$|^plaid-verification$|^x-payload-digest$/;

// The results are cached, because senders use few names. The limit is for a sender that uses many.
const MAX_CACHED_NAMES = 1000;
const confidentialNames = new Map<string, boolean>();

/** Whether the value of a header may be a secret. `name` is in lower case. */
export function isConfidential(name: string): boolean {
  const known = confidentialNames.get(name);
  if (known !== undefined) return known;
  const confidential = CONFIDENTIAL.test(name);
  if (confidentialNames.size < MAX_CACHED_NAMES) confidentialNames.set(name, confidential);
  return confidential;
}

/**
 * Returns the headers to store with a delivery, as JSON: names in lower case, without confidential and omitted ones.
 */
export function storedHeaders(headers: IncomingHttpHeaders, omitted: ReadonlySet<string> = NONE): string {
  const kept: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined || isConfidential(name) || omitted.has(name)) continue;
    kept[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  return JSON.stringify(kept);
}

const NONE: ReadonlySet<string> = new Set();
