import { isUtf8 } from "node:buffer";
import type { OutgoingHttpHeaders } from "node:http";
import type { ClaimedJob } from "../../events/job.ts";
import { isJson, mediaTypeIn } from "../../lib/header-value.ts";
import { parseStrictJson } from "../../lib/json.ts";

type Event = Pick<ClaimedJob, "source" | "eventId" | "type" | "receivedAt" | "contentType" | "payload">;

/** The context attributes of an event (CloudEvents 1.0.2). */
const attributesOf = ({ source, eventId, type, receivedAt }: Event) => ({
  specversion: "1.0",
  id: eventId,
  source,
  type,
  time: new Date(receivedAt).toISOString(),
});

/** The attributes as headers of the binary mode (HTTP protocol binding, 3.1.3). */
export function cloudEventHeaders(event: Event): OutgoingHttpHeaders {
  const attributes = Object.entries(attributesOf(event));
  return Object.fromEntries(attributes.map(([name, value]) => [`ce-${name}`, encoded(value)]));
}

/** Space, quotes, percent signs and what is not printable ASCII are percent-encoded in UTF-8. */
function encoded(text: string): string {
  return text.toWellFormed().replace(/[^\x21\x23\x24\x26-\x7e]/gu, (sign) => encodeURIComponent(sign));
}

/**
 * The media type in the binary mode. A receiver takes `application/cloudevents…` for the structured mode (HTTP protocol
 * binding, 3). So it would read an event that is the payload in place of ours. Such a payload is JSON.
 */
export const binaryType = (contentType: string) =>
  mediaTypeIn(contentType).startsWith("application/cloudevents") ? "application/json" : contentType;

export const CLOUD_EVENT_TYPE = "application/cloudevents+json; charset=utf-8";

const COMMA = Buffer.of(0x2c);
const CLOSING_BRACE = Buffer.of(0x7d);

/** The event in the structured mode, in JSON. A payload of JSON keeps its bytes. */
export function cloudEventBody(event: Event): Buffer {
  const { payload, contentType } = event;
  const attributes = { ...attributesOf(event), ...(contentType !== "" && { datacontenttype: contentType }) };
  const text = Buffer.from(JSON.stringify(attributes));
  if (payload.length === 0) return text;
  const data = dataOf(Buffer.from(payload.buffer, payload.byteOffset, payload.length), mediaTypeIn(contentType));
  return Buffer.concat([text.subarray(0, -1), COMMA, data, CLOSING_BRACE]);
}

function dataOf(payload: Buffer, mediaType: string): Buffer {
  if (isJson(mediaType) && parseStrictJson(payload).ok) return Buffer.concat([Buffer.from('"data":'), payload]);
  if (mediaType.startsWith("text/") && isUtf8(payload))
    return Buffer.from(`"data":${JSON.stringify(payload.toString())}`);
  return Buffer.from(`"data_base64":"${payload.toString("base64")}"`);
}
