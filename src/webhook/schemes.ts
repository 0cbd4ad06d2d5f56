/**
 * How a sender signs, as data. `signed` is the text the HMAC covers: `{body}` the raw bytes, `{timestamp}` the timestamp,
 * `{header:NAME}` a request header.
 */
export interface Scheme {
  /** Lower-case name of the header that carries the signature. */
  header: string;
  /**
   * `bare`: the value is one signature, perhaps with a prefix. `pairs`: `key=value` items with commas between them.
   * `list`: `version,signature` items with spaces between them.
   */
  format: "bare" | "pairs" | "list";
  /** `bare`: may stand before the signature. `pairs` and `list`: the key or version that marks a signature. */
  label: string;
  encodings: readonly ("hex" | "base64")[];
  signed: string;
  /** Where the Unix time in seconds comes from; absent when the scheme has none. */
  timestamp?: { header: string } | { pair: string };
  /** How the configured secret becomes the key. `whsec`: base64 behind `whsec_`, or without that base64 or its text. */
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

/** What the default source accepts. A delivery is genuine when any one of these headers carries a valid signature. */
export const DEFAULT_SCHEMES: readonly Scheme[] = [
  hmacOfBody("x-signature"),
  hmacOfBody("x-hub-signature"),
  hmacOfBody("x-hub-signature-256"),
  STRIPE,
  STANDARD_WEBHOOKS,
];
