/**
 * A signature scheme as data. `signed` is the text that the HMAC covers: `{body}` is the raw bytes, `{timestamp}` the
 * timestamp, `{header:NAME}` a request header.
 */
export interface Scheme {
  /** Lower-case name of the header that carries the signature. */
  header: string;
  /**
   * `bare`: one signature, with or without a prefix. `pairs`: comma-separated `key=value` items. `list`: space-separated
   * `version,signature` items.
   */
  format: "bare" | "pairs" | "list";
  /** `bare`: the optional prefix. `pairs` and `list`: the key or version of a signature. */
  label: string;
  encodings: readonly ("hex" | "base64")[];
  signed: string;
  /** The place of the timestamp, in Unix seconds; absent when the scheme has none. */
  timestamp?: { header: string } | { pair: string };
  /** How the secret becomes the key. `whsec`: base64 after `whsec_`; without that prefix, base64 or the text itself. */
  key: "utf8" | "whsec";
}

const hmacOfBody = (header: string): Scheme => ({
  header,
  format: "bare",
  label: "sha256=",
  encodings: ["hex", "base64"],
  signed: "{body}",
  key: "utf8",
});

// https://docs.stripe.com/webhooks/signature
const STRIPE: Scheme = {
  header: "stripe-signature",
  format: "pairs",
  label: "v1",
  encodings: ["hex"],
  signed: "{timestamp}.{body}",
  timestamp: { pair: "t" },
  key: "utf8",
};

// https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
const STANDARD_WEBHOOKS: Scheme = {
  header: "webhook-signature",
  format: "list",
  label: "v1",
  encodings: ["base64"],
  signed: "{header:webhook-id}.{timestamp}.{body}",
  timestamp: { header: "webhook-timestamp" },
  key: "whsec",
};

/** The schemes of the default source. A delivery is genuine if one of these headers has a valid signature. */
export const DEFAULT_SCHEMES: readonly Scheme[] = [
  hmacOfBody("x-signature"),
  hmacOfBody("x-hub-signature"),
  hmacOfBody("x-hub-signature-256"),
  STRIPE,
  STANDARD_WEBHOOKS,
];
