import type { HmacScheme, Place, Scheme, TimeUnit } from "../schemes.ts";
import type { Preset } from "./preset.ts";

/** Where a signature lies: one header, or a place as in `HmacScheme`. */
type SignaturePlace = string | HmacScheme["signature"];

/** The HMAC of the body alone, as one value: SHA-256 in hex unless the options say otherwise. */
export function hmacOfBody(place: SignaturePlace, options: Partial<HmacScheme> = {}): HmacScheme {
  return {
    type: "hmac",
    signature: typeof place === "string" ? { headers: [place] } : place,
    format: "bare",
    algorithm: "sha256",
    encodings: ["hex"],
    signed: "{body}",
    key: "utf8",
    ...options,
  };
}

/** As `hmacOfBody`, in base64. */
export function base64OfBody(place: SignaturePlace, options: Partial<HmacScheme> = {}): HmacScheme {
  return hmacOfBody(place, { encodings: ["base64"], ...options });
}

/** An HMAC that also covers a timestamp in a header of its own. */
export function timestamped(
  place: SignaturePlace,
  timestamp: { header: string; unit?: TimeUnit },
  signed: string,
  options: Partial<HmacScheme> = {},
): HmacScheme {
  return hmacOfBody(place, { timestamp, signed, ...options });
}

/** Stripe's form, which others follow: `t=TIME,v1=SIGNATURE` over the time, a dot and the body. */
export function timestampedPairs(header: string, options: Partial<HmacScheme> = {}): HmacScheme {
  return hmacOfBody(header, {
    format: "pairs",
    label: "v1",
    timestamp: { pair: "t" },
    signed: "{timestamp}.{body}",
    ...options,
  });
}

/** Standard Webhooks, under the specification's header names or those of Svix. */
export function standardWebhooks(prefix: "webhook" | "svix", options: Partial<HmacScheme> = {}): HmacScheme {
  return base64OfBody(`${prefix}-signature`, {
    format: "list",
    label: "v1",
    signed: `{header:${prefix}-id}.{timestamp}.{body}`,
    timestamp: { header: `${prefix}-timestamp` },
    key: "whsec",
    ...options,
  });
}

/** A preset whose signature covers the whole body, unless the rest says otherwise. */
export function preset(
  title: string,
  docs: string,
  scheme: Scheme | readonly Scheme[],
  rest: Partial<Omit<Preset, "title" | "docs" | "schemes">> = {},
): Preset {
  const schemes = "type" in scheme ? [scheme] : scheme;
  return { title, docs, schemes, covers: "body", ...rest };
}

/** The preset of a provider that sends Standard Webhooks. */
export function standardPreset(
  title: string,
  docs: string,
  prefix: "webhook" | "svix" = "webhook",
  type: Place = "body:type",
): Preset {
  return preset(title, docs, standardWebhooks(prefix), { id: [`header:${prefix}-id`], type: [type] });
}

/** The media type of a form. */
export const FORM = "application/x-www-form-urlencoded";
/** For senders that let the receiver choose between JSON and forms. */
export const JSON_OR_FORM = ["application/json", FORM];
