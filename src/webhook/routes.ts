import type { IncomingMessage } from "node:http";
import * as v from "valibot";
import { AppError } from "../errors.ts";
import { readRawBody, requireJson } from "../http/body.ts";
import { isIn } from "../http/client-address.ts";
import { type Handler, reply } from "../http/route.ts";
import type { Log } from "../log.ts";
import { identify, readPayload } from "./identity.ts";
import type { Intake } from "./intake.ts";
import { createVerifier, type RefusalReason } from "./signature.ts";
import type { Source } from "./source.ts";

/** Any JSON object, as the sender writes it. */
export const DeliveryBody = v.record(v.string(), v.unknown());

export const DeliveryAnswer = v.object({ received: v.literal(true), duplicate: v.boolean(), eventId: v.string() });

/**
 * Receives deliveries of a source. The checks are, in order: media type, address, signature header, size, signature, payload.
 * So no body is read without a plausible signature, and none is parsed before it is verified. The answer 200 is sent when
 * the event is on disk.
 */
export function webhookRoute(source: Source, intake: Intake, log: Log, now: () => number = Date.now): Handler {
  const verifier = createVerifier(source);
  return async ({ request, requestId, address }) => {
    const { headers, method = "", url = "" } = request;
    requireJson(request);
    if (source.allowedAddresses && !isIn(source.allowedAddresses, address))
      throw new AppError("address_not_allowed", { reason: "address_not_allowed" });
    const read = verifier.read(headers, Math.floor(now() / 1000));
    if ("reason" in read) throw notGenuine(read.reason);
    const body = await readRawBody(request, source.bodyLimitBytes, address);
    const receivedAt = now();
    const verified = verifier.verify({ method, url, headers, body }, read.candidates);
    if (verified === null) throw notGenuine("signature_mismatch");
    const { eventId, bytesSha256, type } = identify(verified, headers, readPayload(body), body);

    const appended = await intake.append({
      source: source.name,
      eventId,
      type,
      bytesSha256: source.dedupe === "id" ? null : bytesSha256,
      secret: verified.secret,
      contentType: headers["content-type"] ?? "application/json",
      payload: body,
      address,
      headers: storedHeaders(request),
      receivedAt,
    });
    if (appended.conflict) {
      log.warn(
        { event: "delivery_conflict", requestId, source: source.name, eventId, address },
        "a stored event has the same id and other bytes",
      );
    }
    return reply(200, { received: true, duplicate: appended.duplicate, eventId: appended.eventId ?? eventId });
  };
}

function notGenuine(reason: RefusalReason): AppError {
  return new AppError("signature_mismatch", { reason });
}

// Headers that are not stored: signatures, cookies, credentials, keys, tokens, secrets and passwords. The specific names are
// those of senders, and of proxies that log users in.
const CONFIDENTIAL =
  /signature|cookie|credential|authorization|key|token|secret|pass|hmac|mac$|^x-hub-|^x-trello-webhook$|(?:^|-)(?:sig|auth|jwt|oidc)(?:-|$)|^verif-hash$|^plaid-verification$|^x-payload-digest$/;

// The results are cached, because senders use few names. The limit is for a sender that uses many.
const MAX_CACHED_NAMES = 1000;
const confidentialNames = new Map<string, boolean>();

function isConfidential(name: string): boolean {
  const known = confidentialNames.get(name);
  if (known !== undefined) return known;
  const confidential = CONFIDENTIAL.test(name);
  if (confidentialNames.size < MAX_CACHED_NAMES) confidentialNames.set(name, confidential);
  return confidential;
}

/** Returns the headers to store with a delivery, as JSON: names in lower case, without confidential headers. */
export function storedHeaders(request: IncomingMessage): string {
  const kept: Record<string, string> = {};
  for (const name in request.headers) {
    const value = request.headers[name];
    if (value !== undefined && !isConfidential(name)) kept[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  return JSON.stringify(kept);
}
