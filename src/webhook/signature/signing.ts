import type { HmacScheme, JwtScheme, PublicKeyScheme, Scheme, TimeUnit, TokenScheme } from "./schemes.ts";

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

/** A signature of the body with a private key, in base64: SHA-256 unless the options say otherwise. */
export function keySignature(
  type: PublicKeyScheme["type"],
  place: SignaturePlace,
  options: Partial<PublicKeyScheme> = {},
): PublicKeyScheme {
  return {
    type,
    signature: typeof place === "string" ? { headers: [place] } : place,
    format: "bare",
    algorithm: "sha256",
    encodings: ["base64"],
    signed: "{body}",
    ...options,
  };
}

/** The signature of Standard Webhooks with a private key, which has the version `v1a`. */
function standardKeySignature(prefix: "webhook" | "svix"): PublicKeyScheme {
  const { signature, signed, timestamp } = standardWebhooks(prefix);
  return keySignature(
    "ed25519",
    { headers: [] },
    { signature, format: "list", label: "v1a", signed, ...(timestamp && { timestamp }) },
  );
}

/** Standard Webhooks with a secret or a private key. */
export function standardSchemes(...prefixes: ("webhook" | "svix")[]): Scheme[] {
  return prefixes.flatMap((prefix) => [standardWebhooks(prefix), standardKeySignature(prefix)]);
}

/**
 * For senders that sign nothing. All that they keep is a URL, so that a secret is in it: `?token=SECRET`, or behind the
 * path.
 */
export const SECRET_IN_URL: readonly Scheme[] = [
  { type: "token", query: "token" },
  { type: "token", path: true },
];
/** Where the public keys of {@link googleToken} are, as https://accounts.google.com/.well-known/openid-configuration says. */
export const GOOGLE_KEYS = "https://www.googleapis.com/oauth2/v3/certs";

/**
 * A token by which Google says which service account sends. Anybody can have one made for any audience, so the account
 * decides (https://developers.google.com/identity/openid-connect/openid-connect).
 */
export function googleToken(): JwtScheme {
  return {
    type: "jwt",
    header: "authorization",
    label: "Bearer ",
    algorithms: ["RS256"],
    claims: {
      iss: ["https://accounts.google.com", "accounts.google.com"],
      aud: ["{option:audience}"],
      email: ["{option:email}"],
      email_verified: ["true"],
    },
    needsExpiry: true,
  };
}

/** What a source sets for {@link googleToken}. */
export const GOOGLE_OPTIONS = {
  email: { is: "the email of the service account that sends" },
  audience: { is: "the audience of the token, if it is not the address of the source", default: "{url}" },
};
/** The secret in the header `Authorization`, with or without `Bearer` before it. */
export const BEARER_TOKEN: TokenScheme = { type: "token", header: "authorization", label: "Bearer " };
