import { hash } from "node:crypto";
import type { EventPayload } from "../../events/store.ts";
import { trimSpace } from "../../lib/header-value.ts";
import { isConfidential } from "../intake/delivered-event.ts";
import type { Scheme } from "../signature/schemes.ts";
import { addressWithSecret, signDelivery } from "../signature/sign.ts";
import type { Options } from "../signature/signed-text.ts";
import { sampleOf } from "./index.ts";

/** Who signs stored events afresh. */
export interface Signer {
  preset: string;
  schemes: readonly Scheme[];
  options?: Options;
  /** A private key if the sender has a key pair. */
  secret: string;
}

/** A request that a sender would make. */
interface SignedRequest {
  url: string;
  headers: Record<string, string>;
  body: Buffer;
}

// What belonged to the connection of the delivery, or was added on its way.
const OF_THE_WAY =
  /^(?:host|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|expect|via|forwarded|x-forwarded-.*|x-real-ip|content-length|content-encoding|accept-encoding)$/;

/**
 * A stored event as its sender would deliver it to another address now, signed with another secret. The bytes are those
 * of the event, unless the signature is in the body. Throws an error if it cannot be signed.
 */
export function signedAgain(signer: Signer, event: EventPayload, to: string, now: number): SignedRequest {
  const { schemes, options, secret } = signer;
  const body = Buffer.from(event.payload);
  const headers = headersOf(signer.preset, event, now);
  const failures: unknown[] = [];
  for (const scheme of schemes) {
    const url = withBodyHash(scheme, addressWithSecret(scheme, secret, to), body);
    const { origin, pathname, search } = new URL(url);
    const sentTo = { origin, target: pathname + search };
    const delivery = { method: "POST", ...sentTo, headers, mediaType: event.contentType, body };
    if (!isSignedSo(scheme, event.contentType)) continue;
    try {
      return { url, ...signDelivery(scheme, secret, delivery, now, options) };
    } catch (error) {
      failures.push(error);
    }
  }
  throw failures[0] ?? new Error("the provider signs no such body");
}

/** The stored headers, and those of the provider that tell how it signs: they are never stored. */
function headersOf(preset: string, { headers, contentType }: EventPayload, now: number): Record<string, string> {
  const stored = Object.entries(JSON.parse(headers) as Record<string, string>);
  const usual = Object.entries(sampleOf(preset, { now }).headers);
  return Object.fromEntries([
    ...usual.filter(([name]) => isConfidential(name)),
    ...stored.filter(([name]) => !OF_THE_WAY.test(name)),
    ["content-type", contentType],
  ]);
}

/** Whether a sender signs bodies of a media type so. */
function isSignedSo(scheme: Scheme, mediaType: string): boolean {
  if (!("signed" in scheme) || scheme.only === undefined || !("mediaType" in scheme.only)) return true;
  return trimSpace(mediaType.split(";")[0] ?? "").toLowerCase() === scheme.only.mediaType;
}

/** The address with the digest of the body, if the signature covers the body by it. */
function withBodyHash(scheme: Scheme, url: string, body: Buffer): string {
  if (!("signed" in scheme) || scheme.bodyHash === undefined) return url;
  return `${url}${url.includes("?") ? "&" : "?"}${scheme.bodyHash.query}=${hash("sha256", body)}`;
}
