import type { IncomingHttpHeaders } from "node:http";
import { type Coding, decodeBody } from "../../lib/content-coding.ts";
import { type Content, FORM, openContent } from "./content.ts";

/** How a source takes bodies. */
export interface BodySettings {
  bodyLimitBytes: number;
  /** How bodies may be encoded. Undefined: not at all. */
  encoding?: readonly Coding[];
  /** Whether signatures cover a body as it is sent, and not as it is decoded. */
  signedOver?: "encoded";
}

export const DELIVERY_METHODS = ["POST", "PUT", "PATCH", "GET", "HEAD"] as const;

export type DeliveryMethod = (typeof DELIVERY_METHODS)[number];

/** Whether deliveries of a method have their payload in the query. */
export function isInQuery(method: string | undefined): boolean {
  return method === "GET" || method === "HEAD";
}

/** A body as it was received. `coding` is null if it is not encoded. */
interface ReceivedBody {
  bytes: Buffer;
  coding: Coding | null;
  contentType: string;
  address?: string;
}

/** A body as its signature covers it, and as it is read and stored. */
export interface OpenedBody {
  signed: Content;
  /** The decoded body. If the signature covers the encoded one, it is decoded here. */
  content(): Promise<Content>;
}

/** Opens a body. Decoding it throws what {@link decodeBody} throws. */
export async function openBody(
  { signedOver, bodyLimitBytes }: Pick<BodySettings, "signedOver" | "bodyLimitBytes">,
  { bytes, coding: named, contentType, address }: ReceivedBody,
): Promise<OpenedBody> {
  // The signature covers the bytes only: who sends them again without the header must not make another event of them.
  const coding = named ?? (signedOver === "encoded" && isGzip(bytes) ? "gzip" : null);
  const received = () => openContent(bytes, contentType);
  if (coding === null) {
    const signed = received();
    return { signed, content: async () => signed };
  }
  const decoded = async () => openContent(await decodeBody(bytes, coding, bodyLimitBytes, address), contentType);
  if (signedOver === "encoded") return { signed: received(), content: decoded };
  const signed = await decoded();
  return { signed, content: async () => signed };
}

/** Whether bytes begin as gzip (RFC 1952, 2.3.1). No text in UTF-8 does. */
function isGzip([first, second]: Buffer): boolean {
  return first === 0x1f && second === 0x8b;
}

/** The `Content-Type` of a delivery. A query is a form. */
export function contentTypeOf(method: string, headers: IncomingHttpHeaders): string {
  return isInQuery(method) ? FORM : (headers["content-type"] ?? "");
}
