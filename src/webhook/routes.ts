import type { BlockList } from "node:net";
import * as v from "valibot";
import { AppError, type ErrorCode } from "../errors.ts";
import type { Appended } from "../events/store.ts";
import { readRawBody, requireMediaType } from "../http/body.ts";
import { isIn } from "../http/client-address.ts";
import { type Handler, type Route, reply } from "../http/route.ts";
import { sentOrigin } from "../http/sent-url.ts";
import type { Log } from "../log.ts";
import type { RefusalReason } from "./bound-scheme.ts";
import { openContent } from "./content.ts";
import { eventOf, headersOf } from "./delivered-event.ts";
import type { Holding } from "./holding.ts";
import { requirePayload } from "./identity.ts";
import type { Intake } from "./intake.ts";
import { createVerifier } from "./signature.ts";
import type { Source } from "./source.ts";

/** A delivery's body, as the sender writes it. The source `default` takes objects only. */
const ObjectBody = v.record(v.string(), v.unknown());
const AnyBody = v.unknown();

export const DeliveryAnswer = v.object({ received: v.literal(true), duplicate: v.boolean(), eventId: v.string() });

/** What the routes of sources use. */
export interface DeliveryParts {
  intake: Intake;
  log: Log;
  trustedProxies: BlockList | undefined;
  /** Keeps a refused delivery if its source asks for that. */
  hold: Holding["hold"];
  /** Called for each stored delivery, also a duplicate. */
  onReceived(source: string, secret: string, at: number, appended: Appended): void;
  /** Called for each refused delivery. */
  onRefused(source: string, code: ErrorCode, reason?: string): void;
  now?(): number;
}

/** The route of a source. */
export function sourceRoute(source: Source, parts: DeliveryParts): Route {
  return {
    method: "POST",
    path: source.path,
    summary:
      "Receives a delivery, and answers when the event is on disk. `duplicate` is true if it was stored before. `WEBHOOK_PATH` sets the path. Without `WEBHOOK_SECRET` this route does not exist. The configuration file adds routes like this.",
    needs: `a signature in one of the headers ${headersOf(source)
      .map((name) => `\`${name}\``)
      .join(", ")}`,
    request: source.isEnvelope ? ObjectBody : AnyBody,
    requestTypes: source.contentTypes,
    response: DeliveryAnswer,
    problems: [
      "invalid_payload",
      "address_not_allowed",
      "signature_mismatch",
      "payload_too_large",
      "unsupported_media_type",
      "intake_paused",
      "queue_full",
      "store_unavailable",
    ],
    handler: receive(source, parts),
    quiet: true,
    onProblem: (code, reason) => parts.onRefused(source.name, code, reason),
  };
}

/**
 * Receives deliveries of a source. The checks are, in order: media type, address, signature header, size, signature, payload.
 * So no body is read without a plausible signature, and none is parsed before it is verified, unless the signature is in it.
 * The answer 200 is sent when the event is on disk.
 */
function receive(source: Source, parts: DeliveryParts): Handler {
  const { intake, log, trustedProxies, hold, onReceived, now = Date.now } = parts;
  const verifier = createVerifier(source);
  return async ({ request, requestId, address }) => {
    const { headers, method = "", url: target = "" } = request;
    const mediaType = requireMediaType(request, source.contentTypes);
    if (source.allowedAddresses && !isIn(source.allowedAddresses, address)) {
      if (source.addressMode === "enforce")
        throw new AppError("address_not_allowed", { reason: "address_not_allowed" });
      log.warn(
        { event: "delivery_from_other_address", requestId, source: source.name, address },
        "accepted, because addressMode is watch",
      );
    }
    const read = verifier.read(headers, now());
    if ("reason" in read) throw notGenuine(read.reason);
    const content = openContent(await readRawBody(request, source.bodyLimitBytes, address), mediaType);
    const receivedAt = now();
    const origin = sentOrigin(request, trustedProxies);
    const verified = verifier.verify({ method, origin, target, headers, content }, read.candidates);
    if (typeof verified === "string") {
      const delivery = {
        source: source.name,
        reason: verified,
        method,
        origin,
        target,
        mediaType,
        address,
        receivedAt,
      };
      await hold(source, { ...delivery, headers: JSON.stringify(headers), body: content.bytes });
      throw notGenuine(verified);
    }
    requirePayload(source, content);
    const event = eventOf({ source, verified, headers, content, address, receivedAt });
    const appended = await intake.append(event);
    const { eventId } = event;
    onReceived(source.name, verified.secret.name, receivedAt, appended);
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
