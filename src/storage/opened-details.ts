import { orNull, type PayloadCodec, ROW } from "./payload-codec.ts";

/** What a target answered to an attempt; null if it said nothing, or the key is missing. */
export function openedResponse(
  codec: PayloadCodec,
  event: number,
  { route, attempt, response }: { route: string; attempt: number; response: string | null },
): string | null {
  return response === null ? null : orNull(() => codec.openText(ROW.response(event, route, attempt), response));
}

/** The headers of a repeat as JSON; none if the key is missing. */
export function openedHeaders(
  codec: PayloadCodec,
  event: number,
  { eventId, headers }: { eventId: string; headers: string },
): string {
  return orNull(() => codec.openText(ROW.repeat(event, eventId), headers)) ?? "{}";
}
