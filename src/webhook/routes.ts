import type { IncomingMessage } from "node:http";
import type { BlockList } from "node:net";
import * as v from "valibot";
import { AppError } from "../errors.ts";
import { readRawBody, requireJson } from "../http/body.ts";
import { isIn } from "../http/client-address.ts";
import { type Handler, reply } from "../http/route.ts";
import type { Log } from "../log.ts";
import { identify, readPayload } from "./identity.ts";
import type { Intake } from "./intake.ts";
import type { Verifier } from "./signature.ts";

/** One sender's way in. */
export interface Source {
  name: string;
  path: string;
  verify: Verifier;
  allowedAddresses: BlockList | undefined;
  bodyLimitBytes: number;
}

/** Any JSON object, as the sender writes it. */
export const DeliveryBody = v.record(v.string(), v.unknown());

export const DeliveryAnswer = v.object({ received: v.literal(true), duplicate: v.boolean(), eventId: v.string() });

/**
 * Receives deliveries of a source. Checks run in the order media type, address, size, signature, payload: nothing is
 * parsed before its signature is verified. 200 is sent when the event is on disk.
 */
export function webhookRoute(source: Source, intake: Intake, log: Log, now: () => number = Date.now): Handler {
  return async ({ request, requestId, address }) => {
    requireJson(request);
    if (source.allowedAddresses && !isIn(source.allowedAddresses, address)) throw new AppError("address_not_allowed");
    const body = await readRawBody(request, source.bodyLimitBytes);
    const receivedAt = now();
    if (!source.verify(request.headers, body, Math.floor(receivedAt / 1000))) throw new AppError("signature_mismatch");
    const { eventId, type } = identify(request.headers, readPayload(body), body);

    const { duplicate, conflict } = await intake.append({
      source: source.name,
      eventId,
      type,
      contentType: request.headers["content-type"] ?? "application/json",
      payload: body,
      address,
      headers: storedHeaders(request),
      receivedAt,
    });
    if (conflict) {
      log.warn(
        { event: "delivery_conflict", requestId, source: source.name, eventId, address },
        "other bytes under a known event id",
      );
    }
    return reply(200, { received: true, duplicate, eventId });
  };
}

// Kept out of the record: what proves who the sender is. The signature of every provider has one of these in its name, and so
// has what a proxy that signs its users in adds.
const CONFIDENTIAL =
  /signature|hmac|authorization|cookie|secret|token|api-?key|password|mac$|^x-hub-|^x-trello-webhook$|(?:^|-)(?:sig|auth|jwt|oidc)(?:-|$)|^verif-hash$|^plaid-verification$|^x-payload-digest$/;

// Senders use few names, so each is judged once; the bound is for one that does not.
const MAX_JUDGED_NAMES = 1000;
const judged = new Map<string, boolean>();

function isConfidential(name: string): boolean {
  const known = judged.get(name);
  if (known !== undefined) return known;
  const confidential = CONFIDENTIAL.test(name);
  if (judged.size < MAX_JUDGED_NAMES) judged.set(name, confidential);
  return confidential;
}

/** The headers of a delivery as stored with it, in JSON: lower-case names, without signatures, cookies and authorization. */
export function storedHeaders(request: IncomingMessage): string {
  const kept: Record<string, string> = {};
  for (const name in request.headers) {
    const value = request.headers[name];
    if (value !== undefined && !isConfidential(name)) kept[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  return JSON.stringify(kept);
}
