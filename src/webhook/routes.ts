import type { BlockList } from "node:net";
import { AppError } from "../errors.ts";
import { readRawBody, requireJson } from "../http/body.ts";
import { isIn } from "../http/client-address.ts";
import { type Handler, reply } from "../http/exchange.ts";
import type { Log } from "../log.ts";
import { identify, readPayload } from "./envelope.ts";
import type { Intake } from "./intake.ts";
import { storedHeaders } from "./stored-headers.ts";
import type { Verifier } from "./verify.ts";

/** One sender's way in. */
export interface Source {
  name: string;
  path: string;
  verify: Verifier;
  allowedAddresses: BlockList | undefined;
  bodyLimitBytes: number;
}

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
