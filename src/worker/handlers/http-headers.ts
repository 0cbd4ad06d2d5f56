import { type OutgoingHttpHeaders, validateHeaderValue } from "node:http";
import { type ClaimedJob, idempotencyKeyOf } from "../../events/job.ts";
import { signStandard } from "../../lib/standard-webhooks.ts";
import type { HttpTarget } from "../route.ts";
import { binaryType, CLOUD_EVENT_TYPE, cloudEventBody, cloudEventHeaders } from "./cloud-event.ts";

// Servers limit the size of all headers, Jetty and Tomcat to 8 KiB: https://github.com/probot/smee-client/issues/320.
const MAX_ORIGINAL_BYTES = 6 * 1024;

/** What a request sends of an event; null if its method has no body. */
export function bodyOf(job: ClaimedJob, { method, body }: Pick<HttpTarget, "method" | "body">): Uint8Array | null {
  if (method === "GET" || method === "DELETE") return null;
  return body === "cloudevents-structured" ? cloudEventBody(job) : job.payload;
}

/**
 * The headers of a forwarded event: our own, then those of the target. With a key there is a signature of Standard
 * Webhooks over the body. `now` is in Unix milliseconds.
 */
export function headersOf(
  job: ClaimedJob,
  body: Uint8Array | null,
  { key, headers, body: form }: Pick<HttpTarget, "key" | "headers" | "body">,
  now: number,
): OutgoingHttpHeaders {
  const idempotencyKey = headerSafe(idempotencyKeyOf(job));
  return {
    ...originalHeaders(job.headers),
    ...(body && contentTypeOf(job, form)),
    ...(body && { "Content-Length": body.length }),
    ...(form === "cloudevents-binary" && cloudEventHeaders(job)),
    "User-Agent": "authserve",
    "Idempotency-Key": idempotencyKey,
    "X-Event-Id": headerSafe(job.eventId),
    "X-Event-Type": headerSafe(job.type),
    "X-Event-Source": job.source,
    "X-Attempt": String(job.countedAttempt),
    ...(job.isReplay && { "X-Replay": "true" }),
    ...(key && { ...signStandard(idempotencyKey, body ?? "", key, now) }),
    ...headers,
  };
}

/** The media type of what is sent. A delivery may have had none. */
function contentTypeOf({ contentType }: ClaimedJob, form: HttpTarget["body"]): OutgoingHttpHeaders {
  if (form === "cloudevents-structured") return { "Content-Type": CLOUD_EVENT_TYPE };
  if (contentType === "") return {};
  return { "Content-Type": form === "cloudevents-binary" ? binaryType(contentType) : contentType };
}

// HTTP/1.1 itself: RFC 9110, 7.6.1 and 10.1.1; RFC 2616, 13.5.1. And the headers that every forwarded event has.
const RESERVED =
  /^(?:host|content-length|transfer-encoding|connection|keep-alive|proxy-.*|te|trailer|upgrade|expect|idempotency-key|x-event-(?:id|type|source)|x-attempt|x-replay|x-original-.*|webhook-(?:id|timestamp|signature)|ce-.*)$/;

/** Whether a target cannot have a header of this name, in any case. */
export const isReserved = (name: string) => RESERVED.test(name.toLowerCase());

// `X-Original-` and these names mean something to apps, proxies and frameworks: a sender could choose it.
const MEANINGFUL =
  /^(?:ur[il]|path|query|method|scheme|proto|protocol|ssl|host|port|prefix|for|server|user|email|groups|client|forwarded(?:-.*)?|remote(?:-.*)?|(?:real-|client-)?ip|addr)$/;

/** Whether a header has a meaning of its own behind our prefix. CGI folds `-` and `_`, and some servers also `.`. */
const isMeaningful = (name: string) => MEANINGFUL.test(name.toLowerCase().replace(/[_.]/g, "-"));

/** The sender's stored headers, the shortest first, as many as fit. */
function originalHeaders(headers: string): OutgoingHttpHeaders {
  const stored = Object.entries(JSON.parse(headers) as Record<string, string>);
  const named = stored
    .filter(([name]) => !isMeaningful(name))
    .map(([name, value]) => [`X-Original-${name}`, value] as const)
    .filter(isValid);
  let bytes = 0;
  const fitting = named
    .sort((one, other) => sizeOf(one) - sizeOf(other))
    .filter((header) => {
      bytes += sizeOf(header);
      return bytes <= MAX_ORIGINAL_BYTES;
    });
  return Object.fromEntries(fitting);
}

const sizeOf = ([name, value]: readonly [string, string]) => `${name}: ${value}\r\n`.length;

function isValid([name, value]: readonly [string, string]): boolean {
  try {
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
}

/**
 * Percent-encodes ids that are not printable ASCII, which a header needs. Ids with a percent sign also: keys stay
 * unique.
 */
function headerSafe(text: string): string {
  return /^[\x21-\x7e]+$/.test(text) && !text.includes("%") ? text : encodeURIComponent(text.toWellFormed());
}
