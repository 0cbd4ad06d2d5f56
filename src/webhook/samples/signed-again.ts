import { hash } from "node:crypto";
import type { EventPayload } from "../../events/store.ts";
import { ExactNumber } from "../../lib/exact-json.ts";
import { mediaTypeIn } from "../../lib/header-value.ts";
import { openContent } from "../content/content.ts";
import { isConfidential } from "../content/stored-headers.ts";
import type { Provider } from "../provider.ts";
import { providerOf } from "../providers/index.ts";
import type { Scheme } from "../signature/schemes.ts";
import { addressWithSecret, signDelivery } from "../signature/sign.ts";
import { sampleOf } from "./index.ts";

/** Who signs stored events afresh. */
export interface Signer {
  preset: string;
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
export function signAsSender({ preset, secret }: Signer, event: EventPayload, to: string, now: number): SignedRequest {
  const { schemes, query = {} } = knownProvider(preset);
  const body = Buffer.from(event.payload);
  const headers = headersOf(preset, event, now);
  const address = withQuery(query, event, to);
  const failures: unknown[] = [];
  for (const scheme of schemes) {
    const url = withBodyHash(scheme, addressWithSecret(scheme, secret, address), body);
    const { origin, pathname, search } = new URL(url);
    const sentTo = { origin, target: pathname + search };
    const delivery = { method: "POST", ...sentTo, headers, mediaType: event.contentType, body };
    if (!isSignedSo(scheme, event.contentType)) continue;
    try {
      return { url, ...signDelivery(scheme, secret, delivery, now) };
    } catch (error) {
      failures.push(error);
    }
  }
  throw failures[0] ?? new Error("the provider signs no such body");
}

/** What {@link signAsSender} would need besides a secret. */
export function needsToSign(preset: string): string[] {
  const { keyName, ...provider } = knownProvider(preset);
  return [...neededOptions(provider), ...(keyName === undefined ? [] : [keyName])];
}

/** The options without which a provider cannot sign. */
export function neededOptions({ options = {} }: Pick<Provider, "options">): string[] {
  return Object.keys(options).filter(
    (name) => options[name]?.without === undefined && options[name]?.default === undefined,
  );
}

function knownProvider(preset: string): Provider {
  const provider = providerOf(preset);
  if (provider === undefined) throw new Error("there is no such preset");
  return provider;
}

/** The address with the query that the sender adds. It is not stored, but tells what members of the body do. */
function withQuery(query: NonNullable<Provider["query"]>, event: EventPayload, to: string): string {
  const url = new URL(to);
  const content = openContent(Buffer.from(event.payload), event.contentType);
  const missing = Object.entries(query).filter(([name]) => !url.searchParams.has(name));
  for (const [name, path] of missing) {
    const value = content.exactMember(path);
    if (value !== undefined) url.searchParams.set(name, value instanceof ExactNumber ? value.text : String(value));
  }
  return missing.length === 0 ? to : url.href;
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
  return mediaTypeIn(mediaType) === scheme.only.mediaType;
}

/** The address with the digest of the body, if the signature covers the body by it. */
function withBodyHash(scheme: Scheme, url: string, body: Buffer): string {
  if (!("signed" in scheme) || scheme.bodyHash === undefined) return url;
  return `${url}${url.includes("?") ? "&" : "?"}${scheme.bodyHash.query}=${hash("sha256", body)}`;
}
